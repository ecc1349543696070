"""Files that a command changed are leased where they are free, a bounded number of them."""

import os
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.hooks import scene, written_files
from ghp_agents.hooks.event import RAN, ToolUse
from ghp_agents.hooks.scene import HookContext
from ghp_agents.hooks.written_files import WorktreeLook
from ghp_agents.hotpath import implicit_leases
from tests.support.ghp import succeed
from tests.support.git import commit, git
from tests.support.hooks import event, set_up


def context(repo: Path, command: str = "make", agent: str = "worker-1") -> HookContext:
    used: Any = [ToolUse(RAN, [command])]
    message = event("claude", "batch", repo, tool_uses=used)
    result = scene.find(message, os.environ | {"GHP_AGENT": agent})
    assert result is not None
    return result


def look(at: HookContext) -> WorktreeLook:
    book, presence = written_files.policy_of(at), at.presence()
    assert book is not None
    assert presence is not None
    return WorktreeLook(at, book, presence)


def leases(repo: Path) -> list[tuple[str, str]]:
    return [(x.agent, x.path) for x in implicit_leases.list_all([str(repo / ".git/ghp")])]


@pytest.fixture
def here(repo: Path) -> Path:
    """Two agents share the worktree; the second edits b.txt."""
    commit(
        repo, {"a.txt": "", "b.txt": "", "gen.txt": "", ".gitattributes": "gen* linguist-generated"}
    )
    set_up(repo, None)
    succeed(repo, "agent-heartbeat --as worker-1", "agent-heartbeat --as worker-2")
    for path in ("b.txt", "gen.txt"):
        assert look(context(repo, path, "worker-2")).lease(path).word == "allow"
    return repo


def test_what_the_command_names_is_its_own(here: Path) -> None:
    remarks = look(context(here, "sed -i s/a/b/ src/a.txt"))
    assert remarks.is_shared
    assert (remarks.is_certain("a.txt"), remarks.is_certain("b.txt")) == (True, False)
    succeed(here, "agent-status --set stopped --as worker-2")
    assert look(context(here)).is_certain("b.txt")


def test_what_another_holds_gives_a_remark_and_what_is_generated_none(here: Path) -> None:
    remarks = written_files.remarks(look(context(here)), ["a.txt", "b.txt", "gen.txt", "../odd"])
    (remark,) = remarks
    assert (remark.path, remark.is_certain) == ("b.txt", False)
    assert remark.mark.startswith("implicit worker-2 20")
    assert remark.why.startswith("worker-2 has been editing b.txt in this worktree since ")
    assert leases(here) == [("worker-2", "b.txt"), ("worker-2", "gen.txt")]


def test_a_bounded_number_is_leased(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(written_files, "LEASED", 2)
    names = [f"f{number}" for number in range(4)]
    assert written_files.remarks(look(context(here, " ".join(names))), names) == []
    mine = [path for agent, path in leases(here) if agent == "worker-1"]
    assert mine == ["f0", "f1"]


def test_a_policy_that_takes_too_long_is_the_last_known_one(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(here, "config", "agents.any", "change")
    cached = written_files.policy_of(context(here))
    (here / ".git/config").write_text((here / ".git/config").read_text() + "\n")
    succeed(here, "agent-lease a.txt --as worker-2")
    monkeypatch.setattr(written_files, "POLICY_S", 1e-6)
    stale = written_files.policy_of(context(here))
    assert cached is not None
    assert stale is not None
    assert stale["rules"] == cached["rules"]
