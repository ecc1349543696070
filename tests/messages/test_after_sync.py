"""A sync writes the files of channels; a wrong list of them stops no sync."""

import math
import os
from pathlib import Path

import pytest

from ghp_agents.messages import after_sync
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock
from tests.support.context import make_context
from tests.support.twins.state import MemoryStore


@pytest.fixture
def ws(repo: Path) -> Workspace:
    return open_workspace(repo, os.environ, ManualClock(), "worker-1")


def test_a_wrong_list_of_channels_is_a_note(ws: Workspace) -> None:
    assert after_sync.refresh_channels(make_context(ws)) == []
    (ws.root / ".ghp").mkdir()
    (ws.root / ".ghp/channels.yaml").write_text("- [\n")
    (note,) = after_sync.refresh_channels(make_context(ws))
    assert "channels.yaml" in note


def test_where_messages_are_kept_no_conversation_is_over(ws: Workspace) -> None:
    snapshot = MemoryStore(ws.clock).snapshot()
    assert after_sync.settled(make_context(ws), snapshot, -math.inf) == []
