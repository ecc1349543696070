"""The note of what is being merged."""

import os
from pathlib import Path

import pytest

from ghp_agents.pulls.merging import unfinished_merges
from ghp_agents.workspace import Workspace, open_workspace


@pytest.fixture
def ws(repo: Path) -> Workspace:
    ws = open_workspace(repo, os.environ)
    ws.ghp_dir.mkdir(parents=True, exist_ok=True)
    return ws


def test_what_is_noted_is_read_until_it_is_forgotten(ws: Workspace) -> None:
    assert unfinished_merges.read(ws) == []
    unfinished_merges.note(ws, [3, 5])
    assert unfinished_merges.read(ws) == [3, 5]
    unfinished_merges.forget(ws)
    unfinished_merges.forget(ws)
    assert unfinished_merges.read(ws) == []


@pytest.mark.parametrize("content", ["", "{", "{}", '["3", null, true]', "7"])
def test_a_damaged_note_names_nobody(ws: Workspace, content: str) -> None:
    (ws.ghp_dir / "merging.json").write_text(content)
    assert unfinished_merges.read(ws) == []
