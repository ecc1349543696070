"""After a merge: what is over goes, and nothing else."""

from pathlib import Path

import pytest

from ghp_agents.claims import service as claims
from ghp_agents.core.ids import AgentName
from ghp_agents.leases import service as lease
from ghp_agents.leases.request import LeaseRequest
from ghp_agents.locks.lock import Lock
from ghp_agents.pulls.merging import merge
from ghp_agents.sync import notifications as news
from tests.support.git import commit, git, refs
from tests.support.repos import Restored
from tests.support.road import DEAD, Road, merged, with_issue, with_shared_issue
from tests.support.taking import take

BRANCH = "agent/worker-1/1-parse-files"


@pytest.fixture
def road(restored: Restored) -> Road:
    return Road(restored(with_issue).repo)


@pytest.fixture
def shared(restored: Restored) -> Road:
    return Road(restored(with_shared_issue).clones[0])


def ready(road: Road, *, rests: bool = True) -> Path:
    """A worktree whose pull request is ready, and whose agent is still there, or is not."""
    path = road.start("worker-1").path
    commit(path, {"a.txt": "one\n"})
    road.finish("worker-1", path)
    if rests:
        road.silence("worker-1", DEAD)
    return path


def claim(road: Road) -> Lock:
    lock = road.house("@me").locks.read("issue/1")
    assert lock is not None
    return lock


@pytest.mark.slow
def test_the_issue_is_closed_with_a_comment_that_says_as_what(road: Road) -> None:
    ready(road)
    done = merged(road.merge(1))
    issue = road.house("@me").tracker.get(1)
    assert [x and x.state for x in (issue, done.issue)] == ["closed", "closed"]
    assert [x.body for x in issue.comments] == [
        f"Merged as {(done.pull.merged_as or '')[:12]}: pull request #2 of {BRANCH}.\n\n"
        "<!-- ghp:merged 2 -->"
    ]
    assert issue.assignees == ("worker-1",)


@pytest.mark.slow
def test_the_claim_ends_whoever_merges(road: Road) -> None:
    ready(road)
    commit = merged(road.merge(1)).pull.merged_as or ""
    reason = f"merged by #2 into main as {commit[:12]}"
    assert (claim(road).holder, claim(road).reason) == (None, reason)


@pytest.mark.slow
def test_who_had_it_is_told_that_its_work_is_merged_and_where(road: Road) -> None:
    ready(road)
    commit = merged(road.merge(1)).pull.merged_as or ""
    house = road.house("worker-1")
    assert news.gather(house, AgentName("worker-1")).text == (
        f"Your work on #1 is done: «merged by #2 into main as {commit[:12]}». Further work on it "
        "needs a new issue. `ghp agent-claim --next` finds other work."
    )


@pytest.mark.slow
def test_the_leases_of_an_agent_without_another_issue_end(road: Road) -> None:
    ready(road, rests=False)
    house = road.house("worker-1")
    take(house, LeaseRequest(("/src/",), None, "", None, False, typed=("src/",)))
    take(house, LeaseRequest((), "staging", "", None, True))
    merged(road.merge(1))
    assert lease.listing(house).held == []


@pytest.mark.slow
def test_an_agent_with_another_issue_keeps_its_leases(road: Road) -> None:
    other = road.issue("Another")
    ready(road, rests=False)
    house = road.house("worker-1")
    take(house, LeaseRequest(("/src/",), None, "", None, False, typed=("src/",)))
    road.start("worker-1", other.number)
    merged(road.merge(1))
    assert len(lease.listing(house).held) == 1


@pytest.mark.slow
def test_worktree_and_branch_go_here_and_on_the_remote(shared: Road) -> None:
    path = ready(shared)
    assert merged(shared.merge(1)).notes == ()
    assert not path.exists()
    assert f"refs/heads/{BRANCH}" not in refs(shared.folder, "refs/heads")
    assert f"refs/heads/{BRANCH}" not in refs(shared.remote, "refs/heads")
    assert len(git(shared.folder, "worktree", "list").splitlines()) == 1


@pytest.mark.slow
def test_a_worktree_with_work_in_it_stays_with_its_branch(road: Road) -> None:
    path = ready(road)
    (path / "half.txt").write_text("half-way\n")
    notes = merged(road.merge(1)).notes
    saves = "`ghp agent-handoff --issue 1 --as worker-1` saves that"
    assert notes == (
        f"Kept the worktree {path}: worker-1 left 1 file (half.txt: #1 is merged): {saves}.",
    )
    assert (path / "half.txt").read_text() == "half-way\n"
    assert f"refs/heads/{BRANCH}" in refs(road.folder, "refs/heads")
    (path / "half.txt").unlink()
    assert merged(road.merge(1)).notes == ()  # again, and now it can go
    assert not path.exists()


@pytest.mark.slow
def test_a_worktree_with_more_commits_stays_with_its_branch(shared: Road) -> None:
    path = ready(shared)
    more = commit(path, {"b.txt": "two\n"})
    notes = merged(shared.merge(1)).notes
    assert notes == (
        f"Kept the worktree {path}: worker-1 left 1 commit (on {BRANCH}: #1 is merged): "
        f"`git push origin {BRANCH}` saves that.",
    )
    assert git(path, "rev-parse", "HEAD") == more
    assert refs(shared.folder, "refs/heads")[f"refs/heads/{BRANCH}"] == more


@pytest.mark.slow
def test_what_was_furnished_does_not_keep_a_worktree(road: Road) -> None:
    road.configure(worktreeCopyFiles=[".env"])
    (road.folder / ".env").write_text("PORT=1\n")
    path = ready(road)
    assert (path / ".env").exists()
    merged(road.merge(1))
    assert not path.exists()
    assert (road.folder / ".env").exists()


@pytest.mark.slow
def test_nobody_loses_the_ground_under_their_feet(road: Road) -> None:
    path = ready(road, rests=False)
    assert merged(road.merge(1)).notes == (
        f"Kept the worktree {path}: worker-1 is active there; `ghp agent-sweep --prune` removes it "
        "later.",
    )
    road.silence("worker-1")
    inside = road.merger(cwd=path)
    (path / "src").mkdir()
    (note,) = merged(merge.merge(inside, "1")).notes
    assert note == f"Kept the worktree {path}: this command runs in it."
    assert path.exists()


@pytest.mark.slow
def test_a_person_in_the_main_worktree_keeps_it(road: Road) -> None:
    house = road.house("@me")
    claims.claim(house, "1")
    git(road.folder, "switch", "--quiet", "-c", "ann/1-parse")
    commit(road.folder, {"a.txt": "one\n"})
    road.finish("@me", road.folder)
    done = merged(road.merge(1, "@me"))
    assert done.notes == (f"Kept the worktree {road.folder}: it is the main worktree.",)
    assert claim(road).holder is None
    assert road.trunk == ["README.md", "a.txt"]


# --------------------------------------------------------------------------- the trunk here


@pytest.mark.slow
def test_the_trunk_here_follows_the_remotes(shared: Road) -> None:
    ready(shared)
    done = merged(shared.merge(1))
    assert git(shared.folder, "rev-parse", "main") == done.pull.merged_as
    assert (shared.folder / "a.txt").read_text() == "one\n"
    assert git(shared.folder, "status", "--porcelain") == ""


@pytest.mark.slow
def test_a_trunk_with_changes_is_said_and_left(shared: Road) -> None:
    ready(shared)
    (shared.folder / "README.md").write_text("half-way\n")
    before = git(shared.folder, "rev-parse", "main")
    (note,) = merged(shared.merge(1)).notes
    assert note == (
        f"Left {shared.folder} unchanged: main has local changes there. Run `git pull` in it."
    )
    assert git(shared.folder, "rev-parse", "main") == before
    assert (shared.folder / "README.md").read_text() == "half-way\n"


@pytest.mark.slow
def test_a_trunk_with_commits_that_nobody_pushed_is_left(shared: Road) -> None:
    ready(shared)
    mine = commit(shared.folder, {"mine.txt": "mine\n"})
    assert merged(shared.merge(1)).notes == ()
    assert git(shared.folder, "rev-parse", "main") == mine
    assert not (shared.folder / "a.txt").exists()


@pytest.mark.slow
def test_a_trunk_that_nobody_has_checked_out_moves_alone(shared: Road) -> None:
    ready(shared)
    git(shared.folder, "switch", "--quiet", "-c", "other")
    done = merged(shared.merge(1))
    assert git(shared.folder, "rev-parse", "main") == done.pull.merged_as
    assert not (shared.folder / "a.txt").exists()
