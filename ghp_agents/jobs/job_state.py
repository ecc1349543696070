"""The state of an issue as a job. It is derived and never stored."""

from enum import StrEnum
from typing import NamedTuple


class JobState(StrEnum):
    """How far a job is, in its order."""

    QUEUED = "queued"
    ASSIGNED = "assigned"
    IN_PROGRESS = "in_progress"
    REVIEW = "review"
    COMPLETED = "completed"
    FAILED = "failed"

    @property
    def label(self) -> str:
        """The label that shows it on GitHub, with the setting `jobLabels`."""
        return f"job:{self.value.replace('_', '-')}"


LABELS = frozenset(state.label for state in JobState)


class JobProgress(NamedTuple):
    """The facts about the work on an issue."""

    closed: bool = False
    gave_up: bool = False  # agents died on it so often that a person is asked
    pull: bool = False  # an open pull request, no draft
    sent_back: bool = False  # it was returned, or changes were requested, and not sent again
    claimed: bool = False  # by somebody alive
    assigned: bool = False


def job_state(progress: JobProgress) -> JobState:
    """The state; the first row that applies counts."""
    work = progress.claimed or progress.pull
    rows = (
        (progress.closed, JobState.COMPLETED),
        (progress.gave_up and not progress.claimed, JobState.FAILED),
        (progress.pull and not progress.sent_back, JobState.REVIEW),
        (work, JobState.IN_PROGRESS),
        (progress.assigned, JobState.ASSIGNED),
    )
    return next((state for applies, state in rows if applies), JobState.QUEUED)
