"""Issues as jobs, on real git."""

import pytest

from ghp_agents.jobs import listing
from ghp_agents.jobs.job_state import JobState
from tests.support.claimants import Claimant


def states(one: Claimant, *wanted: JobState) -> list[tuple[int, str, str]]:
    jobs = listing.read_jobs(one.parts, wanted)
    return [(job.issue.number, job.state.value, job.holder) for job in jobs]


@pytest.mark.slow
def test_jobs_are_listed_by_progress_then_urgency_then_age(one: Claimant) -> None:
    one.new("Urgent", priority="critical", body="## Due\n\n2026-12-31")
    one.new("Given", add_assignees=("worker-2",))
    one.new("Begun")
    one.new("Done")
    one.claim(4)
    one.close(5)
    assert states(one) == [
        (2, "queued", ""), (1, "queued", ""), (3, "assigned", ""), (4, "in_progress", "worker-1"),
    ]  # fmt: skip
    assert states(one, JobState.COMPLETED, JobState.ASSIGNED) == [
        (3, "assigned", ""), (5, "completed", ""),
    ]  # fmt: skip
    assert [job.due for job in listing.read_jobs(one.parts)][:2] == ["2026-12-31", ""]
