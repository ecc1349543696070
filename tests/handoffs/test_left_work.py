"""What agents leave in their worktrees reaches whoever continues, in every clone."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.handoffs.record import folder_of, read_handoffs
from ghp_agents.wiring import App
from tests.support.consent import anyone_steals
from tests.support.ghp import invoke, succeed
from tests.support.git import git


def stop(folder: Path) -> str:
    """What the command says, without the ids of handoffs."""
    done = invoke("agent-stop worker-1 --as @me", folder)
    assert (done.code, done.out) == (0, "")
    return re.sub(r"H-[0-9a-f]+", "H-ID", done.err)


@pytest.mark.slow
def test_the_same_command_in_its_own_clone_saves_what_the_other_could_not(
    clones: Callable[[int], list[Path]],
) -> None:
    one, other = clones(2)
    succeed(other, "agent-issue new Parse --as @me", "agent-start 1 --as worker-1")
    place = Path(invoke("agent-where 1", other).out.strip())
    (place / "a.txt").write_text("one\n")
    git(place, "add", "a.txt")
    git(place, "commit", "-qm", "One")
    (place / "a.txt").write_text("one\ntwo\n")
    succeed(place, "agent-heartbeat --status implementing --as worker-1", "agent-sync --as @me")
    succeed(one, "agent-sync --as @me")
    assert stop(one).endswith("✓ worker-1 is told to stop at its next step.\n")
    succeed(other, "agent-sync --as @me")  # it hears of that, and saves the work
    assert stop(other) == "worker-1 was already told to stop.\n"
    succeed(one, "agent-sync --as @me", "agent-start 1 --as worker-2")
    theirs = Path(invoke("agent-where 1", one).out.strip())
    handoffs = read_handoffs(App(one, {}).store.snapshot().files(folder_of(1)))[0]
    (work,) = [x.name for x in handoffs if x.note.startswith("The work of worker-1")]
    invoke(f"agent-resume --handoff {work} --apply --as worker-2", theirs)  # brings its commit
    git(theirs, "switch", "-q", "agent/worker-1/1-parse")
    succeed(theirs, f"agent-resume --handoff {work} --apply --as worker-2")
    assert (theirs / "a.txt").read_text() == "one\ntwo\n"
    resumed = invoke("agent-resume --as worker-2", theirs).out
    assert "not yet sent" not in resumed
    assert "and had lost it when this was written" in resumed


@pytest.mark.slow
def test_after_a_checkpoint_only_what_may_be_newer_is_waited_for(
    clones: Callable[[int], list[Path]],
) -> None:
    one, other = clones(2)
    anyone_steals()
    succeed(other, "agent-issue new Parse --as @me")
    place = started(other, 1, "1\n")
    succeed(place, "agent-handoff --checkpoint --as worker-1", "agent-sync --as @me")
    succeed(one, "agent-sync --as @me")
    done = invoke("agent-claim 1 --steal --reason Urgent --as worker-2", one)
    assert done.code == 0
    assert "Uncommitted work of worker-1" not in done.err
    assert "waits for you, with 1 uncommitted file" in done.err


def started(folder: Path, issue: int, text: str) -> Path:
    """The new worktree of worker-1 for an issue, with an uncommitted file."""
    succeed(folder, f"agent-start {issue} --as worker-1")
    place = Path(invoke(f"agent-where {issue}", folder).out.strip())
    (place / "left.txt").write_text(text)
    return place


def saved(folder: Path, issue: int) -> int:
    """How many handoffs of an issue have uncommitted work."""
    handoffs = read_handoffs(App(folder, {}).store.snapshot().files(folder_of(issue)))[0]
    return sum(x.work is not None for x in handoffs)


@pytest.mark.background
@pytest.mark.slow
def test_the_work_on_each_issue_is_saved_however_its_claim_ended(
    clones: Callable[[int], list[Path]],
) -> None:
    one, other = clones(2)
    for title in ("Parse", "Lex", "Print", "Given"):
        succeed(other, f"agent-issue new {title} --as @me")
    for issue in (1, 2, 3, 4):
        started(other, issue, f"{issue}\n")
    succeed(other, "agent-issue close 1 --as @me", "agent-release 4 --as worker-1")
    assert [saved(other, issue) for issue in (1, 2, 3, 4)] == [0, 0, 0, 0]
    succeed(other, "agent-sync --as @me")
    succeed(one, "agent-sync --as @me")
    assert "#2 is free again" in stop(one)
    for _ in range(2):
        succeed(other, "agent-sync --as @me")
        assert [saved(other, issue) for issue in (1, 2, 3, 4)] == [1, 1, 1, 1]
    assert stop(other) == "worker-1 was already told to stop.\n"


@pytest.mark.slow
def test_an_agent_with_two_worktrees_leaves_in_each_issue_the_work_on_it(repo: Path) -> None:
    succeed(repo, "agent-issue new Parse --as @me", "agent-issue new Lex --as @me")
    trees = [started(repo, issue, f"{issue}\n") for issue in (1, 2)]
    assert "#2 is free again" in stop(repo)
    for issue, place in zip((1, 2), trees, strict=True):
        git(place, "clean", "-qf")
        succeed(place, f"agent-resume --issue {issue} --apply --as worker-1")
        assert (place / "left.txt").read_text() == f"{issue}\n"
