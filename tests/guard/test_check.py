"""Checking a change: whose it is, what it touches, and whose commits it has."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import NotSetUpError, UnknownError, UsageError
from ghp_agents.guard import check
from ghp_agents.guard.check import CheckResult
from ghp_agents.leases.request import LeaseRequest
from ghp_agents.workspace import open_workspace
from tests.support.claimants import Claimant
from tests.support.clock import ManualClock
from tests.support.consent import anyone_steals
from tests.support.git import commit, git
from tests.support.taking import take

NOW = 1_790_000_000.0
Clones = Callable[[int], list[Path]]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def one(clone: Path, clock: ManualClock) -> Claimant:
    """worker-1 claimed #1, gave it to worker-2 and leased a folder; all of it is on the remote."""
    one = Claimant(clone, "worker-1", clock)
    two = Claimant(clone, "worker-2", clock)
    one.beat()
    two.beat()
    one.new("Parse files")
    one.new("Print files")
    one.sync().claim(1)
    one.release(1, to="worker-2")
    one.claim(2)
    take(one.parts, LeaseRequest(("/lib/",)))
    return one.sync()


@pytest.fixture
def fresh(one: Claimant, clones: Clones, clock: ManualClock) -> Path:
    """A clone as a workflow makes it: it has a branch, and has heard of nothing."""
    (path,) = clones(1)
    git(path, "switch", "--quiet", "-c", "agent/worker-2/1-parse")
    commit(path, {"src/a.py": "1"}, "Parse\n\nAgent: worker-2")
    return path


def branch(path: Path, clock: ManualClock, ref: str = "main", **more: object) -> CheckResult:
    environ = {**os.environ, **{k: str(v) for k, v in more.items() if k.isupper()}}
    some = Claimant(path, "", clock)
    some.ws = open_workspace(path, environ, clock)
    options = {k: v for k, v in more.items() if not k.isupper()}
    return check.check_branch(
        some.parts,
        ref,
        **options,  # type: ignore[arg-type]
    )


@pytest.mark.slow
def test_a_branch_is_checked_for_the_agent_that_it_is_named_after(
    fresh: Path, clock: ManualClock
) -> None:
    checked = branch(fresh, clock, commits=True)
    assert (checked.who, checked.refused, checked.strangers, checked.commits) == (
        "worker-2", [], (), 1,
    )  # fmt: skip
    commit(fresh, {"lib/b.py": "1"}, "Take what is leased\n\nAgent: worker-2")
    (refused,) = branch(fresh, clock).refused
    assert (refused.path, refused.holder, refused.kind) == ("lib/b.py", "worker-1", "lease")


@pytest.mark.slow
def test_a_fresh_clone_hears_first_what_the_others_said(fresh: Path, clock: ManualClock) -> None:
    commit(fresh, {"lib/b.py": "1"})
    assert not (fresh / ".git/ghp").exists()
    assert len(branch(fresh, clock).refused) == 1


@pytest.mark.slow
def test_where_the_remote_cannot_be_heard_and_nothing_is_known_the_answer_is_unknown(
    fresh: Path, clock: ManualClock, remote: Path
) -> None:
    away = remote.rename(remote.with_suffix(".away"))
    with pytest.raises(UnknownError, match="This clone has never synced with origin"):
        branch(fresh, clock)
    away.rename(remote)
    branch(fresh, clock)
    remote.rename(away)
    late = branch(fresh, clock)
    assert late.refused == [], "what was heard last is what counts"
    assert late.note.startswith("origin does not answer (")
    assert late.note.endswith("); using its last known state.")


@pytest.mark.slow
def test_a_branch_of_an_agent_that_was_replaced_is_refused(
    one: Claimant, fresh: Path, clock: ManualClock
) -> None:
    two = Claimant(Path(one.ws.place.toplevel or ""), "worker-2", clock)
    two.claim(1)
    two.sync()
    assert branch(fresh, clock).refused == []
    anyone_steals()
    again = Claimant(one.ws.folder, one.name, clock)
    again.claim(1, steal=True, reason="it is urgent")
    (refused,) = branch(fresh, clock).refused
    assert (refused.kind, refused.holder) == ("fenced", "worker-1")


@pytest.mark.slow
def test_where_a_workflow_checks_out_a_merge_the_branch_is_told(
    fresh: Path, clock: ManualClock
) -> None:
    git(fresh, "switch", "--quiet", "--detach")
    assert branch(fresh, clock).who is None
    checked_branch = branch(fresh, clock, GITHUB_HEAD_REF="agent/worker-2/1-parse", commits=True)
    assert (checked_branch.who, checked_branch.strangers) == ("worker-2", ())
    odd = branch(fresh, clock, GITHUB_HEAD_REF="agent/../../x/1-$(id)")
    assert odd.who is None


@pytest.mark.slow
def test_commits_by_agents_that_never_held_the_claim_are_refused(
    fresh: Path, clock: ManualClock
) -> None:
    base = git(fresh, "rev-parse", "HEAD~1")
    commit(fresh, {"a": "1"}, "By one who held it before\n\nAgent: worker-1")
    commit(fresh, {"a": "2"}, "By one that nobody knows\n\nAgent: worker-9")
    git(fresh, "config", "user.name", "worker-1")
    commit(fresh, {"a": "3"}, "By its author")
    git(fresh, "config", "user.name", "Ann Example")
    commit(fresh, {"a": "4"}, "By a person")
    checked = branch(fresh, clock, base, commits=True)
    assert [(x.agent, x.commit.subject) for x in checked.strangers] == [
        ("worker-9", "By one that nobody knows")
    ]
    assert checked.strangers[0].why.endswith(
        "is by worker-9, which never claimed #1 (worker-1, worker-2 did)."
    )
    assert [x.subject for x in checked.people] == ["By a person"]
    assert checked.commits == 5


@pytest.mark.slow
def test_the_author_of_another_issue_is_a_stranger_here(fresh: Path, clock: ManualClock) -> None:
    git(fresh, "switch", "--quiet", "-c", "agent/worker-1/2-print", "main")
    git(fresh, "config", "user.name", "worker-2")
    commit(fresh, {"a": "1"}, "On the wrong branch")
    (stranger,) = branch(fresh, clock, commits=True).strangers
    assert stranger.agent == "worker-2"
    assert branch(fresh, clock, commits=True, issue=1).strangers == ()


@pytest.mark.slow
def test_commits_of_no_issue_cannot_be_checked(fresh: Path, clock: ManualClock) -> None:
    git(fresh, "switch", "--quiet", "-c", "feature")
    with pytest.raises(
        UsageError, match="Cannot tell which issue branch feature belongs to"
    ) as caught:
        branch(fresh, clock, commits=True)
    assert caught.value.hint.startswith("Use --issue 12.")


def test_a_repository_without_a_worktree_has_nothing_to_check(
    remote: Path, clock: ManualClock
) -> None:
    with pytest.raises(NotSetUpError):
        check.top(Claimant(remote, "worker-1", clock).ws)
