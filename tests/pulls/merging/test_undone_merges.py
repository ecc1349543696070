"""A merged pull request that main lost is named, with what keeps its commit."""

import pytest

from ghp_agents.pulls.merging import undone_merges
from tests.support.git import commit, git
from tests.support.repos import Restored
from tests.support.road import Road, merged, with_pull

pytestmark = pytest.mark.slow


def words(road: Road) -> list[tuple[str, str]]:
    return list(undone_merges.warnings(road.house("@me")))


def test_a_merge_that_main_lost_is_named_until_main_has_it_again(restored: Restored) -> None:
    road = Road(restored(with_pull).repo)
    before = git(road.folder, "rev-parse", "main")
    merge = merged(road.merge(2)).pull.merged_as or ""
    assert words(road) == []
    git(road.folder, "reset", "--quiet", "--hard", before)
    commit(road.folder, {"other.txt": "x\n"})
    expected = [
        (
            "The default branch was rewritten. It no longer contains 1 merged pull request: "
            f"#2 «Parse files» ({merge[:12]}).",
            f"To keep the newest: `git branch restore-2 {merge}`. "
            "If you intended this, do nothing.",
        )
    ]
    assert words(road) == expected
    commit(road.folder, {"more.txt": "x\n"})
    assert words(road) == expected  # main moves on without it
    git(road.folder, "merge", "--quiet", "--no-edit", merge)
    assert words(road) == []


def test_a_merge_that_was_only_written_again_is_not_missed(restored: Restored) -> None:
    road = Road(restored(with_pull).repo)
    before = git(road.folder, "rev-parse", "main")
    merge = merged(road.merge(2)).pull.merged_as or ""
    git(road.folder, "reset", "--quiet", "--hard", before)
    git(road.folder, "checkout", "--quiet", merge, "--", ".")
    git(road.folder, "commit", "--quiet", "--message", "Written again")
    assert words(road) == []
