"""What an agent was told: kept for years, in a file of its own."""

import os
from pathlib import Path

import pytest

from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import AgentName
from ghp_agents.escalations import delivered
from ghp_agents.escalations.delivered import Told, delivered_ids, is_told, mark_told
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock

WORKER = AgentName("worker-1")


@pytest.fixture
def ws(repo: Path) -> Workspace:
    return open_workspace(repo, dict(os.environ), ManualClock())


def test_a_name_cannot_lead_the_memory_elsewhere(ws: Workspace) -> None:
    with pytest.raises(UsageError):
        mark_told(ws, AgentName("../../x"), ["aa"])


@pytest.mark.slow
def test_what_was_delivered_is_kept_for_years_and_not_for_ever(ws: Workspace) -> None:
    mark_told(ws, WORKER, [f"item {number}" for number in range(delivered.MOST)])
    mark_told(ws, WORKER, ["one more", "item 1"])
    names = ("item 0", "item 1", "item 2", "one more")
    assert [is_told(ws, WORKER, name) for name in names] == [False, True, True, True]


def log_of(ws: Workspace) -> Path:
    return Path(ws.folders[0], "told", f"{WORKER}.log")


@pytest.mark.slow
def test_many_marks_are_appended_and_taken_up_into_the_list(ws: Workspace) -> None:
    names = [f"message/{number:012}" for number in range(3_000)]
    for name in names:
        mark_told(ws, WORKER, [name])
    assert delivered_ids(ws, WORKER) == {*names}
    assert log_of(ws).stat().st_size <= delivered.LOG_BYTES


def test_a_line_that_a_crash_cut_off_hides_no_other(ws: Workspace) -> None:
    mark_told(ws, WORKER, ["first"])
    with log_of(ws).open("a") as log:
        log.write('\n"seco')
    mark_told(ws, WORKER, ["third"])
    assert delivered_ids(ws, WORKER) == {"first", "third"}


@pytest.mark.slow
def test_who_asks_often_hears_of_what_others_marked(ws: Workspace) -> None:
    delivered = Told(ws, WORKER)
    names = [f"message/{number:012}" for number in range(3_000)]  # the log is taken up meanwhile
    ids = []
    for name in names:
        before = name in delivered
        mark_told(ws, WORKER, [name])
        ids.append((before, name in delivered))
    assert ids == [(False, True)] * len(names)
    assert names[0] in delivered
