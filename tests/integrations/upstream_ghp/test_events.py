"""What follows from an event of upstream's `ghp`; nothing in a repository that is not ours."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.core.errors import GhpError, UsageError
from ghp_agents.hotpath import background
from ghp_agents.integrations.upstream_ghp import events as upstream_event
from ghp_agents.integrations.upstream_ghp.hooks import EVENTS
from ghp_agents.wiring import App
from tests.support.ghp import invoke
from tests.support.git import git

Worktree = Callable[[Path, str], Path]


def follow(folder: Path, event: str, payload: dict[str, Any], **env: str) -> None:
    house = App(folder, {**os.environ, **env})
    upstream_event.follow(house, event, payload)


def about(worktree: Path, branch: str) -> dict[str, Any]:
    place = {"path": str(worktree), "name": worktree.name}
    return {"repo": "o/r", "branch": branch, "worktree": place}


@pytest.fixture
def ours(repo: Path) -> Path:
    """A repository that is set up."""
    assert invoke("agent-init", repo).code == 0
    return repo


@pytest.mark.parametrize("event", EVENTS)
def test_a_repository_that_is_not_set_up_is_left_alone(
    repo: Path, worktree: Worktree, event: str
) -> None:
    path = worktree(repo, "12")
    follow(path, event, about(path, "agent/12"))
    assert not (repo / ".git/ghp").exists()
    assert git(path, "status", "--porcelain", "--ignored") == ""


@pytest.mark.parametrize("event", ["issue-started", "pr-created", "pr-merged"])
def test_news_are_fetched_in_the_background(
    ours: Path, event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[object] = []
    monkeypatch.setattr(background, "spawn", lambda command, _, **__: started.append(command[-2:]))
    follow(ours, event, {"repo": "o/r"}, GHP_BACKGROUND="1")
    assert started == [["agent-sync", "--background"]]


def test_an_event_that_is_none_is_refused(ours: Path) -> None:
    with pytest.raises(UsageError, match="Unknown event 'pr-opened'"):
        follow(ours, "pr-opened", {})


# ------------------------------------------------------------------------------ worktrees


def test_a_new_worktree_gets_the_guards_of_the_main_one(ours: Path, worktree: Worktree) -> None:
    assert invoke("agent-init --hooks claude,codex", ours).code == 0
    path = worktree(ours, "12")
    assert not (path / ".claude").exists()
    follow(path, "worktree-created", about(path, "agent/12"))
    for name in (".claude/settings.local.json", ".codex/hooks.json"):
        assert (path / name).read_bytes() == (ours / name).read_bytes()
    assert not (path / ".gemini").exists()
    assert git(path, "status", "--porcelain") == ""


def test_doing_it_twice_changes_nothing(ours: Path, worktree: Worktree) -> None:
    invoke("agent-init --hooks claude", ours)
    path = worktree(ours, "12")
    follow(path, "worktree-created", about(path, "agent/12"))
    before = (path / ".claude/settings.local.json").stat().st_mtime_ns
    follow(path, "worktree-created", about(path, "agent/12"))
    assert (path / ".claude/settings.local.json").stat().st_mtime_ns == before


def test_without_guards_a_new_worktree_gets_none(ours: Path, worktree: Worktree) -> None:
    path = worktree(ours, "12")
    follow(path, "worktree-created", about(path, "agent/12"))
    assert sorted(file.name for file in path.iterdir()) == [".git", "README.md"]


def test_a_folder_that_is_no_worktree_of_ours_gets_none(ours: Path, tmp_path: Path) -> None:
    invoke("agent-init --hooks claude", ours)
    other = tmp_path / "other"
    other.mkdir()
    follow(ours, "worktree-created", about(other, "agent/12"))
    assert list(other.iterdir()) == []


@pytest.mark.parametrize("worktree", [None, 5, {}, {"path": 5}, {"path": "x"}, {"path": "/\0"}])
def test_an_event_without_a_worktree_is_an_error(ours: Path, worktree: object) -> None:
    for event in ("worktree-created", "worktree-removed"):
        with pytest.raises(GhpError, match="names no worktree"):
            follow(ours, event, {"worktree": worktree})


def status(folder: Path) -> dict[str, Any]:
    shown = json.loads(invoke("agent-status --json", folder).out)["agents"]
    return {name: text["status"] for name, text in shown.items()}


@pytest.fixture
def busy(ours: Path, worktree: Worktree) -> Path:
    """The worktree of worker-1; worker-2 works in another."""
    for number in (1, 2):
        path = worktree(ours, f"{number}")
        assert invoke(f"agent-whoami --set worker-{number}", path).code == 0
        assert invoke("agent-status --set testing", path).code == 0
    return ours.parent / "repo-1"


def test_nobody_works_in_a_worktree_that_was_removed(ours: Path, busy: Path) -> None:
    git(ours, "worktree", "remove", str(busy))
    follow(ours, "worktree-removed", about(busy, "agent/1"))
    assert status(ours) == {"worker-1": "stopped", "worker-2": "testing"}
    shown = invoke("agent-status worker-1", ours).out
    assert "last action: «Its worktree was removed»" in shown


def test_one_that_is_still_there_keeps_its_agent(ours: Path, busy: Path) -> None:
    follow(ours, "worktree-removed", about(busy, "agent/1"))
    assert status(ours) == {"worker-1": "testing", "worker-2": "testing"}


def test_another_branch_in_a_folder_of_that_name_is_not_meant(ours: Path, busy: Path) -> None:
    git(ours, "worktree", "remove", str(busy))
    follow(ours, "worktree-removed", about(busy, "agent/other"))
    assert status(ours)["worker-1"] == "testing"


# ------------------------------------------------------------------------------ the event's file


def test_the_file_of_an_event(tmp_path: Path) -> None:
    (tmp_path / "e.json").write_text('{"repo": "o/r"}')
    assert upstream_event.payload(tmp_path / "e.json") == {"repo": "o/r"}


@pytest.mark.parametrize("text", ["", "{", "[]", "5", "[" * 100_000])
def test_a_file_that_says_nothing_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "e.json").write_text(text)
    with pytest.raises(GhpError, match="Cannot read the upstream event in"):
        upstream_event.payload(tmp_path / "e.json")


def test_a_file_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GhpError, match="No such file"):
        upstream_event.payload(tmp_path / "e.json")
