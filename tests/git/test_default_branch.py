"""The trunk is where the remote has it, else here; a move is seen without git."""

from pathlib import Path

from ghp_agents.git import default_branch as trunkline
from ghp_agents.git.default_branch import DefaultBranch
from ghp_agents.hotpath import policy_stamp as rulestamp
from tests.support.git import add_worktree, commit, git


def test_the_remotes_trunk_goes_before_a_branch_of_its_name_here(clone: Path) -> None:
    commit(clone, {"a": "1"})
    assert trunkline.find(clone) == DefaultBranch("main", "refs/remotes/origin/main", "origin")
    assert trunkline.text(clone, "refs/remotes/origin/main", "a") is None
    assert trunkline.text(clone, "refs/heads/main", "a") == "1"
    git(clone, "branch", "dev")
    assert trunkline.find(clone, named="dev") == DefaultBranch("dev", "refs/heads/dev", "origin")
    assert trunkline.find(clone, named="nowhere") is None


def test_without_a_remote_it_is_here(repo: Path) -> None:
    assert trunkline.find(repo) == DefaultBranch("main", "refs/heads/main", "origin")
    git(repo, "branch", "--move", "main", "work")
    git(repo, "branch", "agent/w1/12-parse")
    assert trunkline.find(repo) == DefaultBranch("work", "refs/heads/work", "origin")
    paths = trunkline.watched(f"{repo}/.git", ["origin"], ["work"], trunkline.find(repo))
    marks = rulestamp.marks(paths)
    git(repo, "branch", "other")
    assert trunkline.find(repo) is None
    assert rulestamp.marks(paths) != marks, "it is the only one no more"


def test_of_several_remotes_only_origin_counts(clone: Path) -> None:
    git(clone, "branch", "--move", "main", "trunk")
    git(clone, "remote", "rename", "origin", "team")
    git(clone, "remote", "add", "fork", str(clone))
    git(clone, "update-ref", "refs/remotes/fork/main", "HEAD")
    assert trunkline.find(clone) == DefaultBranch("trunk", "refs/heads/trunk", "origin")
    git(clone, "remote", "remove", "fork")
    assert trunkline.find(clone) == DefaultBranch("main", "refs/remotes/team/main", "team")


def test_the_remotes_choice_may_have_any_name(clone: Path) -> None:
    git(clone, "push", "--quiet", "origin", "HEAD:release/next", "HEAD:other")
    git(clone, "remote", "set-head", "origin", "release/next")
    there = DefaultBranch("release/next", "refs/remotes/origin/release/next", "origin")
    assert trunkline.find(clone) == there


def test_head_of_a_bare_clone_is_the_remotes_choice(clone: Path, tmp_path: Path) -> None:
    git(clone, "branch", "--move", "main", "trunk")
    git(clone, "branch", "main")
    git(tmp_path, "clone", "--quiet", "--bare", str(clone), "bare.git")
    work = add_worktree(tmp_path / "bare.git", tmp_path / "work", "mine")
    assert trunkline.find(work) == DefaultBranch("trunk", "refs/heads/trunk", "origin")


def test_a_move_of_the_trunk_is_seen_without_git(clone: Path) -> None:
    line = trunkline.find(clone)
    paths = trunkline.watched(f"{clone}/.git", ["origin"], ["main", "../../secret"], line)
    assert not any(".." in path for path in paths)
    marks = rulestamp.marks(paths)
    for act in (
        ["update-ref", "refs/remotes/origin/main", commit(clone, {"a": "1"})],
        ["pack-refs", "--all"],
        ["remote", "rename", "origin", "team"],
    ):
        git(clone, *act)
        assert rulestamp.marks(paths) != marks, act
        marks = rulestamp.marks(paths)
    commit(clone, {"b": "1"})
    git(clone, "checkout", "--quiet", "-b", "other")
    assert rulestamp.marks(paths) == marks, "what happens here is nothing to it"


def test_without_a_remote_a_commit_here_is_seen(repo: Path) -> None:
    paths = trunkline.watched(f"{repo}/.git", ["origin"], [], trunkline.find(repo))
    marks = rulestamp.marks(paths)
    commit(repo, {"a": "1"})
    assert rulestamp.marks(paths) != marks
