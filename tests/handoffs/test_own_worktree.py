"""A handoff has the work of its agent, wherever a person types it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.handoffs import own_worktree
from ghp_agents.workspace import open_workspace
from tests.support.ghp import Result, invoke, succeed
from tests.support.git import commit, git

Worktree = Callable[[Path, str], Path]
AS = "--as worker-1 --json"


@pytest.fixture
def persons(repo: Path) -> Path:
    """A repository in whose main worktree a person has changed two files."""
    commit(repo, {"a.txt": "1\n"})
    (repo / "a.txt").write_text("2\n")
    (repo / "mine.txt").write_text("mine\n")
    return repo


def named(repo: Path, worktree: Worktree, name: str, agent: str = "worker-1") -> Path:
    """A worktree with an agent's name and a new file."""
    place = worktree(repo, name)
    assert invoke(f"agent-whoami --set {agent}", place).code == 0
    (place / f"{name}.txt").write_text("work\n")
    return place


def files(done: Result) -> int:
    return int(json.loads(done.out)["work"]["files"])


@pytest.mark.slow
def test_it_is_taken_from_the_agents_own_worktree(persons: Path, worktree: Worktree) -> None:
    place = named(persons, worktree, "12")
    done = invoke(f"agent-handoff {AS}", persons)
    fields = json.loads(done.out)
    assert (fields["branch"], fields["work"]["files"]) == (
        git(place, "branch", "--show-current"),
        1,
    )
    assert done.err.startswith(
        f"This is the work in the worktree of worker-1, {place}.\n"
        "Left out, because it is here: a.txt, mine.txt.\n"
    )
    assert "Nothing has changed since" in invoke(f"agent-handoff {AS}", place).err


def test_of_several_worktrees_the_one_of_the_issue_counts(repo: Path, worktree: Worktree) -> None:
    twelve, other = named(repo, worktree, "12"), named(repo, worktree, "other")
    git(twelve, "checkout", "--quiet", "-b", "agent/worker-1/12-part")
    ws = open_workspace(repo, {}, name="worker-1")
    found = [own_worktree.elsewhere(ws, "worker-1", number) for number in (12, 13, None)]
    assert found == [twelve, None, None]
    assert own_worktree.is_own(open_workspace(other, {}), "worker-1")
    assert not own_worktree.is_own(ws, "worker-1")


def test_without_a_worktree_only_what_it_edits_or_leased_is_taken(persons: Path) -> None:
    (persons / "b.txt").write_text("its own\n")
    succeed(persons, "agent-lease b.txt --as worker-1")
    git(persons, "checkout", "--quiet", "-b", "elsewhere")  # it was last seen on main
    done = invoke(f"agent-handoff {AS}", persons)
    assert files(done) == 1
    assert (
        "Warning: Left out, because worker-1 is not known to have edited or leased it: a.txt, "
        "mine.txt.\nHint: Run this in its worktree. If this is its worktree: "
        "`ghp agent-whoami --set worker-1`.\n"
    ) in done.err


def test_a_session_of_the_agent_and_a_worktree_with_its_name_keep_all(persons: Path) -> None:
    alone = invoke("agent-handoff --json", persons, {"GHP_AGENT": "worker-1"})
    assert (files(alone), "Left out" in alone.err) == (2, False)
    succeed(persons, "agent-whoami --set worker-2")
    assert files(invoke("agent-handoff --as worker-2 --json", persons)) == 2
