"""The handoff of an agent that says nothing any more."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.handoffs import left_work
from ghp_agents.handoffs.commits import unpack
from ghp_agents.handoffs.restore import restore
from ghp_agents.handoffs.resume import choose
from ghp_agents.handoffs.service import handoff
from ghp_agents.pulls.start_worktree import place_worktree
from tests.state.clones import write_presence
from tests.support.claimants import DEAD, Claimant, Team
from tests.support.git import commit, git
from tests.support.sweeps import everything, handoffs, run, texts

Worktree = Callable[[Path, str], Path]


def document(one: Claimant) -> str:
    """The last handoff of the issue, as people read it."""
    files = one.store.snapshot().files(".ghp/handoffs/1/")
    return [*files.values()][-1].decode()


@pytest.mark.slow
def test_from_elsewhere_it_has_the_pushed_branch_and_what_was_said(
    team: Team, one: Claimant, two: Claimant, sweeper: Claimant
) -> None:
    folder = one.ws.folder
    git(folder, "checkout", "--quiet", "-b", "agent/worker-1/1-parse")
    commit(folder, {"parser.py": "x = 1\n"}, "Begin the parser")
    git(folder, "push", "--quiet", "origin", "HEAD")
    one.claim(1)
    one.beat(status="testing", lastAction="Ran `rm -rf`\n# Not a heading")
    one.sync()
    run(sweeper)
    git(sweeper.ws.folder, "fetch", "--quiet")
    team.silence(DEAD, two)
    run(sweeper)
    (handoff,) = handoffs(sweeper)
    assert (handoff.by.name, handoff.branch) == ("Ann Example", "agent/worker-1/1-parse")
    assert handoff.head == git(folder, "rev-parse", "HEAD")
    text = document(sweeper)
    assert "Begin the parser" in text
    assert "parser.py" in text
    assert "is in another clone." in text
    assert "\n# Not a heading" not in text


@pytest.mark.slow
def test_where_the_worktree_is_here_its_work_is_taken_and_can_be_restored(
    team: Team, one: Claimant, two: Claimant, worktree: Worktree
) -> None:
    folder = worktree(one.ws.folder, "1-parse")
    (folder / "new.py").write_text("unsaved = True\n")
    agent = Claimant(folder, "worker-5", team.clock)
    (agent.ws.git_dir / "ghp-agent").write_text("worker-5\n")
    agent.claim(1)
    sweeper = team.person("worker-1")
    run(sweeper)
    team.silence(DEAD, two)
    assert texts(run(sweeper)) == ["worker-5 is dead; back in the queue (attempt 1)"]
    checkpoint, handoff = handoffs(sweeper)
    assert handoff.work
    assert handoff.work == checkpoint.work
    assert handoff.work.files == 1
    assert (folder / "new.py").read_text() == "unsaved = True\n", "it is not touched"
    sweeper.sync()
    two.sync()
    restore(two.parts, handoff)
    assert (two.ws.folder / "new.py").read_text() == "unsaved = True\n"


@pytest.mark.slow
def test_who_gets_the_issue_of_a_dead_agent_gets_its_unpushed_commits(
    team: Team, one: Claimant, two: Claimant, worktree: Worktree
) -> None:
    folder = worktree(one.ws.folder, "worker-5/1-parse")
    agent = Claimant(folder, "worker-5", team.clock)
    (agent.ws.git_dir / "ghp-agent").write_text("worker-5\n")
    agent.claim(1)
    head = commit(folder, {"new.py": "1\n"}, "Begin")
    sweeper = team.person("worker-1")
    run(sweeper)
    team.silence(DEAD, two)
    two.beat(status="idle")
    two.sync()
    run(sweeper, policy="reassign")
    checkpoint, handoff = handoffs(sweeper)
    assert (handoff.to, handoff.head, checkpoint.head) == ("worker-2", head, head)
    sweeper.sync()
    two.sync()
    assert unpack(two.ws, two.store, handoff) == ""
    assert git(two.ws.folder, "log", "--format=%s", "-1", head) == "Begin"


@pytest.mark.slow
def test_a_branch_that_asks_git_for_something_else_is_none(
    team: Team, one: Claimant, two: Claimant, sweeper: Claimant
) -> None:
    one.claim(1)
    fields = {**one.presence, "branch": "main^{/Begin}", "seq": 99}
    write_presence(one.ws.folder, "worker-1", fields, team.clock.now())
    one.sync()
    run(sweeper)
    team.silence(DEAD, two)
    run(sweeper)
    (handoff,) = handoffs(sweeper)
    assert (handoff.branch, handoff.head) == (None, "")


@pytest.mark.slow
def test_of_one_claim_there_is_one_handoff_however_often_it_is_swept(
    team: Team, one: Claimant, two: Claimant, sweeper: Claimant
) -> None:
    for attempt in (1, 2):
        one.beat(lastAction=f"Attempt {attempt}")
        one.sync()
        one.claim(1)
        one.sync()
        run(sweeper)
        team.silence(DEAD, two)
        run(sweeper)
        before = everything(sweeper)
        run(sweeper)
        assert everything(sweeper) == before
        assert len(handoffs(sweeper)) == attempt


@pytest.mark.slow
def test_its_own_last_handoff_is_not_hidden_by_one_that_says_less(
    team: Team, one: Claimant, two: Claimant, sweeper: Claimant
) -> None:
    one.claim(1)
    (one.ws.folder / "new.py").write_text("unsaved = True\n")
    handoff(one.parts, note="The lexer is next.", issue="1")
    one.sync()
    run(sweeper)
    team.silence(DEAD, two)
    assert texts(run(sweeper)) != []
    (kept,) = handoffs(sweeper)
    assert (kept.by.name, kept.note) == ("worker-1", "The lexer is next.")
    assert kept.work is not None


@pytest.mark.slow
@pytest.mark.parametrize("arrives", ["before", "after"])
def test_what_another_clone_knows_never_hides_the_stored_work(
    team: Team, one: Claimant, two: Claimant, worktree: Worktree, arrives: str
) -> None:
    folder = worktree(one.ws.folder, "worker-5/1-parse")
    agent = Claimant(folder, "worker-5", team.clock)
    (agent.ws.git_dir / "ghp-agent").write_text("worker-5\n")
    agent.claim(1)
    head = commit(folder, {"new.py": "1\n"}, "Begin")
    (folder / "more.py").write_text("2\n")
    agent.sync()
    team.silence(DEAD, two)
    if arrives == "before":
        (saved,) = left_work.save_of(one.parts, "worker-5")
        one.sync()
    run(two)
    if arrives == "after":
        (saved,) = left_work.save_of(one.parts, "worker-5")
        one.sync()
        two.sync()
    full = choose(two.parts, issue="1").handoff
    assert full is not None
    assert (full.id, full.head) == (saved.handoff.id, head)
    started = place_worktree(two.parts, "worker-2", two.tracker.get(1))
    assert git(started.path, "rev-parse", "HEAD") == head
    restore(Claimant(started.path, "worker-2", team.clock).parts, full)
    assert (started.path / "more.py").read_text() == "2\n"
