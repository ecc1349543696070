"""What would be on the trunk is checked before it is, in a place of its own."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import GhpError
from tests.support.git import git
from tests.support.repos import Restored
from tests.support.road import Road, everything, merged, sent_back, with_issue


@pytest.fixture
def road(restored: Restored) -> Road:
    return Road(restored(with_issue).repo)


@pytest.mark.slow
def test_the_checks_run_on_what_would_be_on_the_trunk(road: Road) -> None:
    # Each half is right alone; both together are not, and no file of the two conflicts.
    road.configure({"checks": ["! (test -e a.txt && test -e b.txt)"]})
    road.done("worker-1", 1, {"a.txt": "one\n"})
    road.put({"b.txt": "two\n"})
    before = road.tip
    back = sent_back(road.merge(1))
    assert (back.returned.reason, back.returned.agent, back.round) == ("checks", "worker-1", 1)
    assert back.returned.text == "`! (test -e a.txt && test -e b.txt)` failed with 1"
    assert road.tip == before


@pytest.mark.slow
def test_they_run_in_a_worktree_of_their_own_which_is_gone_after(road: Road) -> None:
    road.configure({"checks": ["pwd > /dev/stderr; touch litter"]}, worktreeCopyFiles=[".env"])
    (road.folder / ".env").write_text("PORT=1\n")
    road.done("worker-1", 1, {".gitignore": "litter\n.env\n"})
    road.put({"b.txt": "two\n"})  # so it is not what was checked before
    place = Path.home() / ".ghp/worktrees/repo/1-parse-files"
    before = everything(place)
    outcome = merged(road.merge(1))
    folder = Path(outcome.checks[0].output)
    assert folder.parent.parent == Path.home() / ".ghp/worktrees/repo/.merging"
    assert not folder.exists()
    assert not folder.parent.parent.exists()
    assert before["(head)"]


@pytest.mark.slow
def test_a_set_up_that_fails_is_nobodys_round(road: Road) -> None:
    road.configure({"checks": ["true"]})
    road.done("worker-1", 1, {"a.txt": "one\n"})
    road.configure({"checks": ["true"]}, worktreeSetupCommand="echo no network; exit 1")
    with pytest.raises(GhpError, match="ended with 1:\nno network"):
        road.merge(1)
    assert road.house("@me").tracker.get(1).comments == ()


@pytest.mark.slow
def test_what_a_killed_merge_left_is_swept_by_the_next(road: Road) -> None:
    road.configure({"checks": ["true"]})
    road.done("worker-1", 1, {"a.txt": "one\n"})
    road.put({"b.txt": "two\n"})  # so it is not what was checked before
    clone = road.house("@me").store.snapshot().clone
    left = Path.home() / ".ghp/worktrees/repo/.merging" / clone / "landing-0a1b2c3d"
    git(road.folder, "worktree", "add", "--quiet", "--detach", str(left))
    merged(road.merge(1))
    assert not left.exists()
    assert "landing-" not in git(road.folder, "worktree", "list")
