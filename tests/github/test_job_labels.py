"""What an issue's labels lack, and have too much, to show its state."""

import pytest

from ghp_agents.core.ids import IssueNumber
from ghp_agents.github.job_labels import change_of
from ghp_agents.github.labels import appearance, of_jobs
from ghp_agents.issues.issue import LABEL_LIMIT, NO_CHANGE, Issue, IssueChange
from ghp_agents.jobs.job_state import LABELS, JobState


@pytest.mark.parametrize(
    ("labels", "change"),
    [
        ((), IssueChange(add_labels=("job:review",))),
        (("job:review", "bug"), NO_CHANGE),
        (("JOB:review",), NO_CHANGE),  # GitHub ignores case
        (
            ("job:queued", "job:in-progress", "job:mine"),
            IssueChange(
                add_labels=("job:review",), remove_labels=("job:queued", "job:in-progress")
            ),
        ),
        (("job:review", "Job:Review"), IssueChange(remove_labels=("Job:Review",))),
        (("epic", "job:review"), IssueChange(remove_labels=("job:review",))),
        (("epic",), NO_CHANGE),
    ],
)
def test_at_most_one_label_shows_the_state(labels: tuple[str, ...], change: IssueChange) -> None:
    issue = Issue("1", IssueNumber(1), "Blink", labels=labels)
    assert change_of(issue, JobState.REVIEW) == change


def test_each_state_has_a_label_with_a_look_that_github_takes() -> None:
    assert {label.name for label in of_jobs()} == LABELS
    assert len(LABELS) == len(JobState)
    for label in of_jobs():
        assert appearance(label.name) == label
        assert len(label.name) <= LABEL_LIMIT
        assert len(label.description) <= 100
