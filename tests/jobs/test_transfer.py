"""Importing jobs: what is created, changed and left alone."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import UsageError
from ghp_agents.jobs import transfer
from ghp_agents.jobs.job_file import JobFile
from ghp_agents.jobs.transfer import MOST_FILES
from tests.support.claimants import Claimant


def imported(one: Claimant, *jobs: JobFile) -> list[tuple[str, str, int | None]]:
    done = transfer.import_jobs(one.parts, jobs)
    return [(x.job.id, x.how, x.issue.number if x.issue else None) for x in done]


@pytest.mark.slow
def test_a_job_that_waits_for_a_later_one_is_blocked_by_it(one: Claimant) -> None:
    jobs = (JobFile("a", "A", dependencies=("b",), assigned_to="worker-2"), JobFile("b", "B"))
    assert imported(one, *jobs) == [("a", "created", 2), ("b", "created", 3)]
    assert one.tracker.get(2).blocked_by == (3,)
    assert one.assignees(2) == ("worker-2",)
    assert imported(one, *jobs) == [("a", "unchanged", 2), ("b", "unchanged", 3)]


@pytest.mark.slow
def test_an_import_that_was_killed_half_way_is_completed_by_the_next(one: Claimant) -> None:
    jobs = (JobFile("a", "A", dependencies=("b",)), JobFile("b", "B"))
    imported(one, JobFile("a", "A"))
    assert imported(one, *jobs) == [("a", "changed", 2), ("b", "created", 3)]
    assert one.tracker.get(2).blocked_by == (3,)


def test_a_closed_issue_is_not_changed(one: Claimant) -> None:
    imported(one, JobFile("a", "A"))
    one.close(2)
    assert imported(one, JobFile("a", "Another")) == [("a", "unchanged", 2)]


def test_a_folder_with_too_many_files_is_refused(tmp_path: Path) -> None:
    for number in range(MOST_FILES + 1):
        (tmp_path / f"{number}.yaml").touch()
    with pytest.raises(UsageError) as caught:
        transfer.read_files(tmp_path)
    words = f"has {MOST_FILES + 1} files; at most {MOST_FILES} are read at once."
    assert str(caught.value) == f"{tmp_path} {words}"
