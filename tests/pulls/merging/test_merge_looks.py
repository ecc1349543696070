"""What can be told of many pull requests at once: the same as of each alone."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.pulls.merging import merge_trial
from ghp_agents.pulls.merging.merge_looks import MergeLooks
from ghp_agents.pulls.pull import Pull
from ghp_agents.state import remote_branches as branches
from tests.support.git import commit, git
from tests.support.road import Road


@pytest.fixture
def road(repo: Path) -> Road:
    return Road(repo)


def branch(road: Road, name: str, files: dict[str, str]) -> Pull:
    """A branch with one commit, which begins at main."""
    git(road.folder, "switch", "--quiet", "--create", name, "main")
    head = commit(road.folder, files, "Work")
    git(road.folder, "switch", "--quiet", "main")
    return Pull(7, name, "main", head, "Title")


def look(road: Road, *pulls: Pull) -> MergeLooks:
    who = road.merger()
    tips = branches.tips(who.ws, "main", *(pull.branch for pull in pulls))
    return MergeLooks(who, "main", tips, pulls)


@pytest.mark.slow
def test_many_looks_tell_the_same_as_one_look(road: Road) -> None:
    pulls = [branch(road, f"agent/{n}", {f"{n}.txt": "new\n"}) for n in range(5)]
    git(road.folder, "merge", "--quiet", "--no-ff", pulls[0].branch)  # by hand
    git(road.folder, "cherry-pick", pulls[1].head)
    message = f"Land\n\nMerged-head: {pulls[2].head}"
    git(road.folder, "commit", "--quiet", "--allow-empty", "--message", message)
    pulls.append(branch(road, "agent/ahead", {"ahead.txt": "new\n"}))
    looks, who = look(road, *pulls), road.merger()
    shown = [looks.look(pull).is_there for pull in pulls]
    assert shown == [True, True, True, False, False, False]
    assert shown == [merge_trial.try_merge(who, pull).is_there for pull in pulls]


def test_a_branch_that_is_gone_is_refused_unless_it_was_merged(road: Road) -> None:
    merged, lost = (branch(road, name, {f"{name}.txt": "new\n"}) for name in ("one", "two"))
    git(road.folder, "merge", "--quiet", "--no-ff", "one")
    git(road.folder, "branch", "--quiet", "-D", "one", "two")
    looks = look(road, merged, lost)
    assert looks.look(merged).is_there
    with pytest.raises(RefusedError, match="the branch of #7, no longer exists"):
        looks.look(lost)


def test_without_a_main_branch_all_are_refused(road: Road) -> None:
    pull = branch(road, "agent/1", {"a.txt": "new\n"})
    looks = MergeLooks(road.merger(), "gone", {"agent/1": pull.head}, [pull])
    with pytest.raises(RefusedError, match="There is no branch gone"):
        looks.look(pull)
