"""What was there before the guards came: kept, read whatever became of it, and forgotten."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.integrations.clients import original_state as guard_origins
from ghp_agents.integrations.clients.hook_entries import Lists
from ghp_agents.integrations.clients.original_state import Origin


def test_it_is_kept_by_the_worktrees_name_and_the_users_by_their_files_path(
    repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    common, linked = repo / ".git", worktree(repo, "147")
    folder = common / "ghp/guards"
    assert guard_origins.place(common, repo, "codex") == folder / "main/codex.json"
    name = "worktrees/repo-147/codex.json"
    assert guard_origins.place(common, linked, "codex") == folder / name
    mine = [
        guard_origins.users_place({"HOME": "/home/x"}, "claude", Path(path))
        for path in ("/home/x/.claude/settings.json", "/etc/claude/settings.json")
    ]
    assert len(set(mine)) == 2
    assert {str(path.parent) for path in mine} == {"/home/x/.local/state/ghp/guards"}


def test_what_is_kept_is_read_again_and_forgotten_with_its_folders(tmp_path: Path) -> None:
    path = tmp_path / "ghp/guards/main/codex.json"
    assert guard_origins.read(path) is None
    origin = Origin(False, Lists(True, frozenset(["Stop", "é"])), hidden=True)
    guard_origins.write(path, origin)
    assert guard_origins.read(path) == origin
    assert list(guard_origins.all_of(tmp_path, "codex")) == [path]
    assert list(guard_origins.all_of(tmp_path, "claude")) == []
    guard_origins.forget(path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "[]", "{", "\udcff", "null"])
def test_what_cannot_be_read_is_not_known(tmp_path: Path, text: str) -> None:
    path = tmp_path / "codex.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert guard_origins.read(path) is None
    path.write_text('{"made": 1, "events": "Stop", "hooks": null}')
    assert guard_origins.read(path) == Origin(created=False)
    path.write_text('{"events": [1, "Stop"], "hooks": true}')
    assert guard_origins.read(path) == Origin(False, Lists(True, frozenset(["Stop"])))
