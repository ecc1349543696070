"""What a clone can say about a pull request, and its diff after each kind of merge."""

import pytest

from ghp_agents.core.errors import NotFoundError
from ghp_agents.pulls import details
from tests.support.git import commit, git
from tests.support.repos import Restored, Site
from tests.support.road import Road, merged, sent_back

CHANGED = b"diff --git a/a.txt b/a.txt\ndiff --git a/b.txt b/b.txt\n"


def two_commits(site: Site) -> None:
    """Pull request #2 of two commits, behind main."""
    road = Road(site.make_repo())
    road.issue("Parse files")
    place = road.start("worker-1").path
    commit(place, {"a.txt": "one\n"}, "One")
    commit(place, {"b.txt": "two\n"}, "Two")
    road.finish("worker-1", place)
    road.put({"c.txt": "of main\n"})


@pytest.fixture
def road(restored: Restored) -> Road:
    return Road(restored(two_commits).repo)


def changed(road: Road) -> bytes:
    """The first line for each file of the diff of #2."""
    house = road.house("lead")
    lines = details.diff(house, house.forge.get(2)).splitlines(keepends=True)
    return b"".join(line for line in lines if line.startswith(b"diff"))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
def test_the_diff_stays_the_same_after_a_merge(road: Road, method: str) -> None:
    assert changed(road) == CHANGED
    road.configure({"mergeMethod": method})
    merged(road.merge(2))
    assert changed(road) == CHANGED


@pytest.mark.slow
def test_each_new_attempt_is_a_round(road: Road) -> None:
    road.put({"a.txt": "theirs\n"})
    sent_back(road.merge(2))
    road.put({"d.txt": "more\n"})
    sent_back(road.merge(2))
    place = road.start("worker-1").path
    commit(place, {"b.txt": "three\n"})
    sent_back(road.merge(2, "@me"))
    shown = details.read_details(road.house("lead"), 2)
    assert [number for _, number in shown.returns] == [1, 1, 2]
    assert shown.conflicts == ("a.txt",)


@pytest.mark.slow
def test_a_merge_by_hand_leaves_no_base(road: Road) -> None:
    git(road.folder, "merge", "--quiet", "--no-edit", "agent/worker-1/1-parse-files")
    merged(road.merge(2))
    with pytest.raises(NotFoundError, match="merged without a record of its base") as caught:
        changed(road)
    assert caught.value.hint.startswith("`git log -p ")


def test_a_branch_that_nobody_has_any_more_is_named(road: Road) -> None:
    house = road.house("lead")
    lost = house.forge.get(2)._replace(head="ab" * 20)
    with pytest.raises(NotFoundError, match="commit abababababab or its base is not in this clone"):
        details.diff(house, lost)
    assert details.read_details(house, 2).conflicts == ()
