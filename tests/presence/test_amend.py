"""A clone adds to the presence of its agents without a heartbeat."""

import os
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.hotpath import heartbeat
from ghp_agents.presence.amend import amend
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock


@pytest.fixture
def ws(repo: Path) -> Workspace:
    workspace = open_workspace(repo, os.environ, ManualClock())
    heartbeat.beat(workspace.folders, "alice", {}, workspace.clock.now(), epoch=1)
    return workspace


def note(record: dict[str, Any]) -> bool:
    record["noted"] = record.get("noted", 0) + 1
    return True


def test_the_position_rises_and_the_time_of_the_last_heartbeat_stays(ws: Workspace) -> None:
    path = ws.ghp_dir / "agents/alice.json"
    before = path.stat()
    assert amend(ws, "alice", note)
    assert amend(ws, "alice", note)
    presence = ws.presence("alice") or {}
    assert (presence["epoch"], presence["seq"], presence["noted"]) == (1, 3, 2)
    assert path.stat().st_mtime_ns - before.st_mtime_ns == 2  # a fold sees that it is new


def test_without_a_change_nothing_is_written(ws: Workspace) -> None:
    before = ws.presence("alice")
    assert not amend(ws, "alice", lambda record: False)
    assert not amend(ws, "bob", note)
    assert ws.presence("alice") == before
