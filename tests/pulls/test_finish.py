"""Finishing: who may, what is refused, and that again is the same pull request."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.claims import service as claim
from ghp_agents.core.errors import RefusedError
from ghp_agents.handoffs import service as handoff
from ghp_agents.pulls import run_checks as checking
from ghp_agents.pulls.finish import ChecksFailedError, unfinished
from ghp_agents.worktrees.provisioned_files import committed
from tests.support.consent import anyone_steals
from tests.support.git import commit, git
from tests.support.repos import Restored
from tests.support.road import Road, with_shared_issue, with_shared_work

Clones = Callable[[int], list[Path]]
BRANCH = "agent/worker-1/1-parse-files"


@pytest.fixture
def road(restored: Restored, request: pytest.FixtureRequest) -> Road:
    is_begun = "place" in request.fixturenames
    return Road(restored(with_shared_work if is_begun else with_shared_issue).clones[0])


@pytest.fixture
def place(road: Road) -> Path:
    """A worktree with a commit."""
    return road.work


def sent(road: Road, branch: str = BRANCH) -> str:
    """Where a branch is on the remote; empty if it is not there."""
    return git(road.folder, "ls-remote", "origin", f"refs/heads/{branch}")[:40]


@pytest.mark.slow
def test_the_work_is_pushed_and_a_pull_request_is_open(road: Road, place: Path) -> None:
    done = road.finish("worker-1", place)
    head = git(place, "rev-parse", "HEAD")
    assert (done.is_new, done.updated, done.commits) == (True, False, 1)
    assert done.notes == (checking.NONE,)
    assert (done.pull.number, done.pull.branch, done.pull.base, done.pull.head) == (
        2, BRANCH, "main", head,
    )  # fmt: skip
    assert (done.pull.title, done.pull.issue, done.pull.state, done.pull.draft) == (
        "Parse files", 1, "open", False,
    )  # fmt: skip
    assert sent(road) == head
    presence = road.house("worker-1", place).ws.presence("worker-1") or {}
    assert (presence["status"], presence["lastAction"]) == ("reviewing", "Finished #1: #2")


@pytest.mark.slow
def test_again_it_is_the_same_pull_request_brought_up_to_date(road: Road, place: Path) -> None:
    first = road.finish("worker-1", place)
    same = road.finish("worker-1", place)
    assert (same.is_new, same.pull) == (False, first.pull)
    head = commit(place, {"b.txt": "two\n"}, "Parse another")
    again = road.finish("worker-1", place)
    assert (again.is_new, again.pull.number, again.pull.head) == (False, 2, head)
    assert "«Parse another»" in again.pull.body
    assert sent(road) == head


@pytest.mark.slow
def test_commits_that_were_handed_over_are_not_left_out_unless_on_purpose(
    road: Road, place: Path
) -> None:
    git(place, "switch", "--quiet", "--detach")
    head = commit(place, {"bee.txt": "1\n"}, "Bee")
    handed = handoff.handoff(road.house("bee", place), issue="1", to="worker-1").handoff
    git(place, "switch", "--quiet", BRANCH)
    git(place, "commit", "--quiet", "--allow-empty", "-m", "Own")
    with pytest.raises(RefusedError) as caught:
        road.finish("worker-1", place)
    assert str(caught.value) == (
        f"Not on {BRANCH}: 1 commit of {handed.name}, by bee, up to {head[:12]}."
    )
    assert caught.value.hint == (
        f"Run `git merge {head[:12]}`. To leave them out on purpose: `git merge -s ours "
        f"{head[:12]}`."
    )
    assert sent(road) == ""


@pytest.mark.slow
def test_who_does_not_have_the_issue_any_more_is_refused(road: Road, place: Path) -> None:
    house = road.house("@me")
    lease = house.locks.read("issue/1")
    assert lease is not None
    house.locks.acquire("issue/1", "worker-2", expected=lease, epoch=1)
    with pytest.raises(RefusedError, match="#1 is claimed by worker-2"):
        road.finish("worker-1", place)
    assert sent(road) == ""
    assert road.house("@me").forge.list(closed=True) == []


@pytest.mark.slow
def test_a_claim_that_is_lost_while_the_checks_run_is_noticed(road: Road, place: Path) -> None:
    other = road.folder.with_name("clone-2")
    anyone_steals()
    steal = "-m ghp_agents agent-claim 1 --as worker-2 --steal --reason urgent"
    road.sync()
    command = f"cd {other} && {sys.executable} -m ghp_agents agent-sync && {sys.executable} {steal}"
    road.configure({"checks": [command]})
    with pytest.raises(RefusedError, match="#1 is claimed by worker-2"):
        road.finish("worker-1", place)
    assert sent(road) == ""


@pytest.mark.parametrize("staged", [False, True])
def test_what_is_not_committed_is_named_and_nothing_is_pushed(
    road: Road, place: Path, staged: bool
) -> None:
    (place / "half.txt").write_text("half-way\n")
    if staged:
        git(place, "add", "half.txt")
    with pytest.raises(
        RefusedError, match="There are uncommitted changes: half\\.txt\\."
    ) as refused:
        road.finish("worker-1", place)
    assert "`ghp agent-handoff --checkpoint`" in refused.value.hint
    assert sent(road) == ""
    assert (place / "half.txt").read_text() == "half-way\n"


@pytest.mark.slow
def test_what_came_by_furnishing_the_worktree_is_not_in_the_way(road: Road) -> None:
    road.configure(worktreeCopyFiles=[".env"], worktreeSymlinkFiles=["deps"])
    (road.folder / ".env").write_text("PORT=1\n")
    (road.folder / "deps").mkdir()
    path = road.start("worker-1").path
    commit(path, {"a.txt": "one\n"})
    assert git(path, "status", "--porcelain") == "?? .env\n?? deps"
    assert unfinished(road.house("worker-1", path).ws, path) == []
    assert road.finish("worker-1", path).is_new


@pytest.mark.slow
def test_what_came_by_furnishing_the_worktree_is_not_sent_to_others(road: Road) -> None:
    road.configure(worktreeCopyFiles=[".env"], worktreeSymlinkFiles=["deps"])
    (road.folder / ".env").write_text("PORT=1\n")
    (road.folder / "deps").mkdir()
    path = road.start("worker-1").path
    ws = road.house("worker-1", path).ws
    git(path, "add", "--all")
    head = commit(path, {"a.txt": "one\n"})
    assert committed(ws, road.tip, head) == (".env", "deps")
    with pytest.raises(RefusedError, match=r"copied into this worktree: \.env deps") as refused:
        road.finish("worker-1", path)
    assert "`git rm --cached .env deps`, and commit. Add them to .gitignore" in refused.value.hint
    git(path, "rm", "--quiet", "--cached", ".env", "deps")
    head = commit(path, {"b.txt": "two\n"})
    assert committed(ws, road.tip, head) == (".env",)  # a commit before still has its content
    git(path, "reset", "--quiet", "--soft", road.tip)
    assert committed(ws, road.tip, commit(path, {"c.txt": "three\n"})) == ()


@pytest.mark.slow
def test_without_a_commit_nothing_is_done(road: Road) -> None:
    path = road.start("worker-1").path
    with pytest.raises(RefusedError, match="has no commits since main") as refused:
        road.finish("worker-1", path)
    assert refused.value.hint == (
        "Commit your work first. If nothing needs to change, close the issue: "
        "`ghp agent-issue close 1 --reason WHY`."
    )


def test_on_the_trunk_and_on_no_branch_nothing_can_be_finished(road: Road, place: Path) -> None:
    with pytest.raises(RefusedError, match="This worktree is on the main branch, main"):
        road.finish("worker-1", road.folder)
    git(place, "switch", "--quiet", "--detach")
    with pytest.raises(RefusedError, match="No branch is checked out here"):
        road.finish("worker-1", place)


def test_in_the_middle_of_a_merge_nothing_can_be_finished(road: Road, place: Path) -> None:
    road.put({"a.txt": "theirs\n"})
    git(place, "fetch", "--quiet")
    with pytest.raises(AssertionError):
        git(place, "merge", "--quiet", "main")
    with pytest.raises(RefusedError, match="A merge is in progress here"):
        road.finish("worker-1", place)


# -------------------------------------------------------------------------------- checks


@pytest.mark.slow
def test_a_check_that_fails_is_said_with_its_output_and_nothing_is_pushed(
    road: Road, place: Path
) -> None:
    road.configure({"checks": ["echo fine", "echo 3 tests failed; exit 2", "touch never"]})
    with pytest.raises(ChecksFailedError) as failed:
        road.finish("worker-1", place)
    assert str(failed.value) == "`echo 3 tests failed; exit 2` failed with 2.\n3 tests failed"
    assert failed.value.exit_code == 1
    assert sent(road) == ""
    assert not (place / "never").exists()
    shown = road.house("worker-1", place).ws.presence("worker-1") or {}
    assert shown["lastAction"] == "Not finished: `echo 3 tests failed; exit 2` failed with 2."


@pytest.mark.slow
def test_a_draft_is_shown_as_it_is_and_made_ready_later(road: Road, place: Path) -> None:
    road.configure({"checks": ["test -e b.txt"]})
    draft = road.finish("worker-1", place, draft=True)
    assert draft.pull.draft
    assert "`test -e b.txt` failed with 1" in draft.pull.body
    commit(place, {"b.txt": "two\n"})
    ready = road.finish("worker-1", place)
    assert (ready.pull.number, ready.pull.draft) == (draft.pull.number, False)
    assert "`test -e b.txt` passed" in ready.pull.body


@pytest.mark.slow
def test_a_check_that_changes_files_is_found_out(road: Road, place: Path) -> None:
    road.configure({"checks": ["echo formatted > a.txt"]})
    with pytest.raises(RefusedError, match="The checks changed files while they ran: a\\.txt\\."):
        road.finish("worker-1", place)
    assert sent(road) == ""


@pytest.mark.slow
def test_a_check_that_leaves_build_output_is_told_to_ignore_it(road: Road, place: Path) -> None:
    road.configure({"checks": ["mkdir out && echo 1 > out/a.o"]})
    with pytest.raises(RefusedError) as refused:
        road.finish("worker-1", place)
    assert str(refused.value) == "The checks made files that git does not ignore: out/."
    assert refused.value.hint == (
        "If they are build output, add them to .gitignore and commit that. If not, commit them. "
        "Then finish again."
    )


@pytest.mark.slow
def test_a_person_finishes_what_they_have_claimed(road: Road) -> None:
    house = road.house("@me")
    claim.claim(house, "1")
    git(road.folder, "switch", "--quiet", "-c", "ann/1-parse")
    commit(road.folder, {"a.txt": "one\n"})
    done = road.finish("@me", road.folder)
    assert (done.pull.branch, done.pull.issue) == ("ann/1-parse", 1)


@pytest.mark.slow
def test_nobodys_hooks_run(road: Road, place: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    for name in ("pre-push", "post-checkout", "pre-commit", "post-merge"):
        path = road.folder / ".git/hooks" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\necho {name} >> {ran}\n")
        path.chmod(0o755)
    road.finish("worker-1", place)
    assert not ran.exists()


@pytest.mark.slow
def test_who_finishes_in_anothers_worktree_hears_where_its_own_is(road: Road, place: Path) -> None:
    road.issue("Print files")
    other = road.start("worker-2", 2).path
    with pytest.raises(RefusedError, match="#1 is claimed by worker-1") as caught:
        road.finish("worker-2", place)
    assert caught.value.hint == f"worker-2 works elsewhere: `cd {other} && ghp agent-finish`."
    with pytest.raises(RefusedError, match="on the main branch") as caught:
        road.finish("worker-2", road.folder)
    assert caught.value.hint == f"worker-2 works elsewhere: `cd {other} && ghp agent-finish`."


@pytest.mark.slow
def test_a_commit_whose_message_could_start_another_agent_is_not_sent(
    road: Road, place: Path
) -> None:
    git(place, "commit", "--amend", "-qm", "Use @property\n\n@copilot review this")
    with pytest.raises(RefusedError, match="mentions another agent, or commands a bot"):
        road.finish("worker-1", place)
    assert sent(road) == ""
    git(place, "commit", "--amend", "-qm", "Use @property")
    assert road.finish("worker-1", place).is_new
