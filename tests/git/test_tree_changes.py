"""The paths that differ between trees."""

import os
from pathlib import Path

from ghp_agents.git import tree_changes, trial_merge
from ghp_agents.git.tree_changes import TreeChange
from tests.support.git import commit, git

ODD = os.fsdecode(b"new\nline \xff\t:100644")


def test_each_pair_has_its_paths_with_both_versions(repo: Path, tmp_path: Path) -> None:
    one = commit(repo, {"a": "1\n", "b": "1\n"})
    git(repo, "rm", "--quiet", "b")
    two = commit(repo, {"a": "2\n", ODD: "1\n"})
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    place = trial_merge.open_place(repo / ".git", scratch, trial_merge.programs(repo))
    first, second = tree_changes.trees(place, [one, two])
    old, new = git(repo, "rev-parse", f"{one}:a"), git(repo, "rev-parse", f"{two}:a")
    forth = [TreeChange("a", old, new), TreeChange("b", old, ""), TreeChange(ODD, "", old)]
    back = [TreeChange(path, new, old) for path, old, new in forth]
    pairs = [(first, second), (first, first), (second, first)]
    assert tree_changes.changes(place, pairs) == [forth, [], back]
    assert tree_changes.changes(place, []) == []
