"""What an agent was told: kept for years, in a file of its own."""

import os
from pathlib import Path

import pytest

from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import AgentName
from ghp_agents.escalations import delivered
from ghp_agents.escalations.delivered import is_told, mark_told
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock

WORKER = AgentName("worker-1")


@pytest.fixture
def ws(repo: Path) -> Workspace:
    return open_workspace(repo, dict(os.environ), ManualClock())


def test_a_name_cannot_lead_the_memory_elsewhere(ws: Workspace) -> None:
    with pytest.raises(UsageError):
        mark_told(ws, AgentName("../../x"), ["aa"])


def test_what_was_delivered_is_kept_for_years_and_not_for_ever(ws: Workspace) -> None:
    mark_told(ws, WORKER, [f"item {number}" for number in range(delivered.MOST)])
    mark_told(ws, WORKER, ["one more", "item 1"])
    names = ("item 0", "item 1", "item 2", "one more")
    assert [is_told(ws, WORKER, name) for name in names] == [False, True, True, True]
