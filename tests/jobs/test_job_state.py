"""The state of a job follows from the work on its issue."""

import itertools

import pytest

from ghp_agents.jobs.job_state import JobProgress, JobState, job_state


@pytest.mark.parametrize(
    ("progress", "state"),
    [
        (JobProgress(), JobState.QUEUED),
        (JobProgress(assigned=True), JobState.ASSIGNED),
        (JobProgress(assigned=True, claimed=True), JobState.IN_PROGRESS),
        (JobProgress(claimed=True, pull=True), JobState.REVIEW),
        (JobProgress(pull=True), JobState.REVIEW),
        (JobProgress(claimed=True, pull=True, sent_back=True), JobState.IN_PROGRESS),
        (JobProgress(gave_up=True, assigned=True), JobState.FAILED),
        (JobProgress(gave_up=True, claimed=True), JobState.IN_PROGRESS),
        (JobProgress(closed=True, claimed=True, pull=True, gave_up=True), JobState.COMPLETED),
    ],
)
def test_each_state_has_its_rule(progress: JobProgress, state: JobState) -> None:
    assert job_state(progress) is state


def test_closing_completes_a_job_whatever_else_is_known() -> None:
    for values in itertools.product((False, True), repeat=5):
        assert job_state(JobProgress(True, *values)) is JobState.COMPLETED
