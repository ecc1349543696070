"""The state of a job follows from the work on its issue."""

import itertools

import pytest

from ghp_agents.jobs.job_state import JobState, Progress, job_state


@pytest.mark.parametrize(
    ("progress", "state"),
    [
        (Progress(), JobState.QUEUED),
        (Progress(assigned=True), JobState.ASSIGNED),
        (Progress(assigned=True, claimed=True), JobState.IN_PROGRESS),
        (Progress(claimed=True, pull=True), JobState.REVIEW),
        (Progress(pull=True), JobState.REVIEW),
        (Progress(claimed=True, pull=True, sent_back=True), JobState.IN_PROGRESS),
        (Progress(gave_up=True, assigned=True), JobState.FAILED),
        (Progress(gave_up=True, claimed=True), JobState.IN_PROGRESS),
        (Progress(closed=True, claimed=True, pull=True, gave_up=True), JobState.COMPLETED),
    ],
)
def test_each_state_has_its_rule(progress: Progress, state: JobState) -> None:
    assert job_state(progress) is state


def test_closing_completes_a_job_whatever_else_is_known() -> None:
    for values in itertools.product((False, True), repeat=5):
        assert job_state(Progress(True, *values)) is JobState.COMPLETED
