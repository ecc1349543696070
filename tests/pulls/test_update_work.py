"""A branch is brought up to the main branch with its uncommitted work, or nothing is changed."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.core.errors import GhpError, RefusedError, UnknownError
from ghp_agents.git import merge, move_worktree
from ghp_agents.pulls import update_work
from ghp_agents.pulls.update_work import UpdateConflictError, Updated
from ghp_agents.wiring import App
from tests.support.consent import agree
from tests.support.git import commit, git, refs
from tests.support.repos import Prepared

TEN = "".join(f"{number}\n" for number in range(1, 11))


class Branch:
    """A person's branch in a clone, and a main branch that moves on."""

    def __init__(self, folder: Path, other: Path) -> None:
        self.folder, self.other = folder, other

    def begin(self) -> None:
        """Commits on main, in both clones, and one on the branch."""
        self.put({"a.txt": TEN, "b.txt": TEN, "old.txt": "old\n", ".gitignore": "*.log\n"})
        git(self.folder, "pull", "--quiet", "origin", "main")
        git(self.folder, "switch", "--quiet", "-c", "work")
        commit(self.folder, {"b.txt": TEN.replace("2\n", "two\n")}, "Mine")

    def put(self, files: dict[str, str | bytes], *removed: str) -> str:
        """A commit on the main branch, from another clone."""
        if removed:
            git(self.other, "rm", "--quiet", "--", *removed)
        oid = commit(self.other, files, "Main")
        git(self.other, "push", "--quiet", "origin", "main")
        return oid

    def rebases(self) -> None:
        """The configuration says so."""
        self.put({".ghp/config.json": json.dumps({"agents": {"updateMethod": "rebase"}})})
        git(self.folder, "pull", "--quiet", "--rebase", "origin", "main")
        agree(self.folder)

    def write(self, **files: str) -> None:
        for name, text in files.items():
            (self.folder / f"{name}.txt").write_text(text)

    def update(self, name: str | None = None) -> Updated:
        return update_work.update(App(self.folder, os.environ, name=name).ws)

    def status(self) -> list[str]:
        return git(self.folder, "status", "--porcelain").splitlines()

    def state(self) -> dict[str, Any]:
        """Files with their times, the index's bytes, and all refs."""
        top = self.folder
        files = [path for path in top.rglob("*") if path.is_file() and ".git" not in path.parts]
        contents: dict[str, Any] = {
            str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files
        }
        index = Path(git(top, "rev-parse", "--path-format=absolute", "--git-path", "index"))
        contents["index"] = (index.read_bytes(), index.stat().st_mtime_ns)
        contents["refs"] = {x: y for x, y in refs(top).items() if not x.startswith("refs/remotes/")}
        contents["head"] = git(top, "rev-parse", "--symbolic-full-name", "HEAD")
        contents["worktrees"] = git(top, "worktree", "list")
        contents["git"] = sorted({path.name for path in index.parent.iterdir()} - {"ghp"})
        return contents


def begun(folder: Path, other: Path) -> None:
    Branch(folder, other).begin()


@pytest.fixture
def branch(prepared: Prepared) -> Branch:
    folder, other = prepared(begun)
    git(folder, "update-index", "-q", "--refresh")  # the times of the copies
    return Branch(folder, other)


@pytest.mark.slow
def test_the_main_branch_is_merged_into_a_clean_branch(branch: Branch) -> None:
    head = git(branch.folder, "rev-parse", "HEAD")
    trunk = branch.put({"news.txt": "new\n"})
    done = branch.update()
    assert (done.method, done.base, done.branch, done.old) == ("merge", "main", "work", head)
    assert git(branch.folder, "rev-parse", "HEAD^1", "HEAD^2").split() == [head, trunk]
    assert branch.status() == []
    assert branch.update()._replace(method="merge") == done._replace(old=done.new)
    assert refs(branch.folder, "refs/worktree") == {}


@pytest.mark.slow
def test_or_it_is_rebased_where_the_configuration_says_so(branch: Branch) -> None:
    branch.rebases()
    branch.put({"news.txt": "new\n"})
    branch.write(a=TEN.replace("9\n", "nine\n"))
    assert branch.update().method == "rebase"
    subjects = git(branch.folder, "log", "--format=%s").splitlines()
    assert subjects == ["Mine", "Main", "Main", "Main", "Begin"]
    assert branch.status() == [" M a.txt"]


@pytest.mark.slow
def test_a_branch_without_commits_is_moved_forward(branch: Branch) -> None:
    git(branch.folder, "reset", "--quiet", "--hard", "main")
    trunk = branch.put({"news.txt": "new\n"})
    assert branch.update().method == "fast-forward"
    assert git(branch.folder, "rev-parse", "work") == trunk


@pytest.mark.slow
def test_uncommitted_work_stays_as_it_was_staged_or_not(branch: Branch) -> None:
    branch.write(a=TEN.replace("3\n", "three\n"), staged="new\n", loose="new\n", later="new\n")
    git(branch.folder, "add", "a.txt", "staged.txt")
    git(branch.folder, "add", "--intent-to-add", "later.txt")
    git(branch.folder, "rm", "--quiet", "old.txt")
    branch.write(a=TEN.replace("3\n", "three\n").replace("5\n", "five\n"))
    before = branch.status()
    branch.put({"a.txt": TEN.replace("9\n", "nine\n")})
    assert branch.update().carried == 5
    assert branch.status() == before == [
        "MM a.txt", " A later.txt", "D  old.txt", "A  staged.txt", "?? loose.txt",
    ]  # fmt: skip
    mine = TEN.replace("3\n", "three\n").replace("9\n", "nine\n")
    assert git(branch.folder, "show", ":a.txt") + "\n" == mine
    assert (branch.folder / "a.txt").read_text() == mine.replace("5\n", "five\n")


@pytest.mark.slow
def test_work_follows_a_file_that_was_renamed_on_main(branch: Branch) -> None:
    branch.write(a=TEN.replace("3\n", "three\n"))
    branch.put({"moved.txt": TEN}, "a.txt")
    branch.update()
    assert branch.status() == [" M moved.txt"]
    assert (branch.folder / "moved.txt").read_text() == TEN.replace("3\n", "three\n")


@pytest.mark.slow
def test_a_new_file_that_main_has_with_the_same_content_is_no_conflict(branch: Branch) -> None:
    branch.write(same="same\n")
    branch.put({"same.txt": "same\n"})
    branch.update()
    assert branch.status() == []


@pytest.mark.slow
@pytest.mark.parametrize("method", ["merge", "rebase"])
def test_a_conflict_of_commits_changes_nothing_and_shows_both_sides(
    branch: Branch, method: str
) -> None:
    if method == "rebase":
        branch.rebases()
    branch.write(a="work\n")
    branch.put({"b.txt": TEN.replace("2\n", "deux\n")})
    before = branch.state()
    with pytest.raises(UpdateConflictError) as refused:
        branch.update()
    assert branch.state() == before
    assert str(refused.value) == "work conflicts with main in b.txt. Nothing was changed."
    assert refused.value.hint == (
        f"Commit your work. Then run `git {method} origin/main`, resolve the conflicts and commit."
    )
    (file,) = refused.value.files
    assert (file.path, file.kind, file.overlaps) == (
        "b.txt", "lines", ((2, 2, "two", 2, 2, "deux"),),
    )  # fmt: skip


CONFLICTS = {
    "lines": ({"a": TEN.replace("3\n", "three\n")}, {"a.txt": TEN.replace("3\n", "trois\n")}, ()),
    "added": ({"new": "mine\n"}, {"new.txt": "theirs\n"}, ()),
    "deleted there": ({"old": "changed\n"}, {"x.txt": "x\n"}, ("old.txt",)),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", CONFLICTS)
def test_a_conflict_of_uncommitted_work_changes_nothing(branch: Branch, kind: str) -> None:
    mine, theirs, removed = CONFLICTS[kind]
    branch.write(**mine)
    branch.put({**theirs}, *removed)
    before = branch.state()
    with pytest.raises(UpdateConflictError, match="Your uncommitted changes conflict") as refused:
        branch.update()
    assert branch.state() == before
    assert [(file.path, file.kind) for file in refused.value.files] == [
        (f"{next(iter(mine))}.txt", kind)
    ]


@pytest.mark.slow
def test_what_is_staged_and_conflicts_alone_is_not_lost(branch: Branch) -> None:
    branch.write(a=TEN.replace("3\n", "three\n"))
    git(branch.folder, "add", "a.txt")
    branch.write(a=TEN)
    branch.put({"a.txt": TEN.replace("3\n", "trois\n")})
    before = branch.state()
    with pytest.raises(UpdateConflictError, match="Your uncommitted changes conflict") as refused:
        branch.update()
    assert branch.state() == before
    assert "three" in git(branch.folder, "show", ":a.txt")
    assert [(file.path, file.kind) for file in refused.value.files] == [("a.txt", "lines")]


@pytest.mark.slow
def test_a_pushed_branch_is_not_pushed_but_said_to_be_replaced(branch: Branch) -> None:
    branch.rebases()
    git(branch.folder, "push", "--quiet", "origin", "work")
    sent = git(branch.folder, "ls-remote", "origin", "work")
    branch.put({"news.txt": "new\n"})
    assert branch.update().replaces
    assert git(branch.folder, "ls-remote", "origin", "work") == sent


@pytest.mark.slow
def test_what_the_remote_has_more_of_the_branch_comes_along(branch: Branch) -> None:
    git(branch.folder, "push", "--quiet", "origin", "work")
    git(branch.other, "fetch", "--quiet")
    git(branch.other, "switch", "--quiet", "work")
    commit(branch.other, {"theirs.txt": "theirs\n"})
    git(branch.other, "push", "--quiet", "origin", "work")
    branch.write(a="work\n")
    branch.update()
    assert branch.status() == [" M a.txt"]
    assert (branch.folder / "theirs.txt").exists()


def refused(branch: Branch, name: str | None = None) -> str:
    before = branch.state()
    with pytest.raises(GhpError) as error:
        branch.update(name)
    assert branch.state() == before
    return f"{error.value} {error.value.hint}"


@pytest.mark.slow
def test_where_it_cannot_be_done_it_says_why(branch: Branch) -> None:
    git(branch.folder, "switch", "--quiet", "main")
    assert refused(branch) == (
        "This worktree is on the main branch, main. Update it with `git pull`. "
        "`ghp agent-update` is for the branches of work."
    )
    git(branch.folder, "switch", "--quiet", "--detach")
    assert refused(branch).startswith("No branch is checked out here (detached HEAD).")
    git(branch.folder, "bisect", "start")
    assert refused(branch).startswith("A bisect is in progress here. ")


@pytest.mark.parametrize("command", ["merge", "rebase", "cherry-pick"])
def test_an_operation_in_progress_is_named(branch: Branch, command: str) -> None:
    branch.put({"b.txt": "theirs\n"})
    git(branch.folder, "fetch", "--quiet")
    with pytest.raises(AssertionError):
        git(branch.folder, command, "origin/main")
    assert refused(branch) == (
        f"A {command} is in progress here. Finish or abort it; `git status` shows how."
    )


@pytest.mark.slow
def test_conflicts_of_a_stash_are_resolved_first(branch: Branch) -> None:
    branch.write(a="one\n")
    git(branch.folder, "stash", "--quiet")
    commit(branch.folder, {"a.txt": "two\n"})
    with pytest.raises(AssertionError):
        git(branch.folder, "stash", "pop")
    branch.put({"news.txt": "new\n"})
    assert refused(branch) == (
        "There are unresolved conflicts: a.txt. Resolve them and run `git add` for each file."
    )


@pytest.mark.slow
@pytest.mark.parametrize("path", ["x.log", "x.log/deep.txt", "folder"])
def test_ignored_files_in_the_way_are_not_overwritten(branch: Branch, path: str) -> None:
    ignored = branch.folder / ("folder/kept.log" if path == "folder" else "x.log")
    ignored.parent.mkdir(exist_ok=True)
    ignored.write_text("mine\n")
    place = branch.other / path
    place.parent.mkdir(exist_ok=True)
    place.write_text("theirs\n")
    git(branch.other, "add", "--force", path)
    git(branch.other, "commit", "--quiet", "--message", "Log")
    git(branch.other, "push", "--quiet", "origin", "main")
    name = ignored.relative_to(branch.folder)
    assert refused(branch) == (
        f"Ignored files are in the way: {name}. The new commit has files there. Nothing was "
        "changed. Move or delete them. Run `ghp agent-update` again."
    )


@pytest.mark.slow
def test_a_worktree_of_another_agent_is_left_alone(branch: Branch) -> None:
    (branch.folder / ".git/ghp-agent").write_text("worker-1\n")
    branch.put({"news.txt": "new\n"})
    assert refused(branch, "worker-2").startswith(
        "This worktree is worker-1's, and you are worker-2."
    )
    assert branch.update("@me").method == "merge"


def test_without_the_remote_nothing_is_changed(branch: Branch) -> None:
    remote = branch.folder.parent / "remote.git"
    branch.put({"news.txt": "new\n"})
    remote.rename(remote.with_suffix(".away"))
    before = branch.state()
    with pytest.raises(UnknownError):
        branch.update()
    assert branch.state() == before


def test_a_branch_without_a_common_commit_is_refused(branch: Branch) -> None:
    git(branch.folder, "switch", "--quiet", "--orphan", "alone")
    commit(branch.folder, {"x.txt": "x\n"})
    assert "have no common commit here." in refused(branch)


@pytest.mark.slow
def test_an_old_git_carries_nothing_over(branch: Branch, monkeypatch: pytest.MonkeyPatch) -> None:
    branch.write(a="work\n")
    branch.put({"news.txt": "new\n"})
    monkeypatch.setattr(merge, "MERGE_TREE", (99,))
    assert refused(branch).startswith(
        "There are uncommitted changes, and this git cannot carry them over."
    )
    git(branch.folder, "checkout", "--quiet", "a.txt")
    assert branch.update().method == "merge"


@pytest.mark.slow
def test_a_sparse_checkout_keeps_its_shape(branch: Branch) -> None:
    branch.put({"in/a.txt": TEN, "out/a.txt": TEN})
    branch.update()
    git(branch.folder, "sparse-checkout", "set", "in")
    branch.put({"in/b.txt": "new\n", "out/b.txt": "new\n", "out/a.txt": "changed\n"})
    (branch.folder / "in/a.txt").write_text(TEN.replace("3\n", "three\n"))
    branch.update()
    assert branch.status() == [" M in/a.txt"]
    assert (branch.folder / "in/b.txt").exists()
    assert not (branch.folder / "out").exists()


@pytest.mark.slow
def test_a_submodule_that_moved_on_main_is_named(branch: Branch, repo: Path) -> None:
    allow = ("-c", "protocol.file.allow=always")
    git(branch.other, *allow, "submodule", "--quiet", "add", str(repo), "sub")
    branch.put({"x.txt": "x\n"})
    assert branch.update().submodules == ("sub",)
    git(branch.folder, *allow, "submodule", "--quiet", "update", "--init")
    git(branch.other, "-C", "sub", "switch", "--quiet", "-c", "more")
    commit(branch.other / "sub", {"more.txt": "more\n"})
    git(branch.other, "add", "sub")
    branch.put({"x.txt": "y\n"})
    branch.write(a="work\n")
    assert branch.update().submodules == ("sub",)
    assert branch.status() == [" M a.txt", " M sub"]


@pytest.mark.slow
def test_what_an_agent_writes_meanwhile_is_not_overwritten(
    branch: Branch, monkeypatch: pytest.MonkeyPatch
) -> None:
    branch.put({"a.txt": TEN.replace("9\n", "nine\n")})
    check = move_worktree.check

    def and_then(*args: Any) -> None:
        check(*args)
        branch.write(a="meanwhile\n")

    monkeypatch.setattr(move_worktree, "check", and_then)
    with pytest.raises(RefusedError, match=r"git cannot update the files here: .*a.txt"):
        branch.update()
    assert branch.status() == [" M a.txt"]
    assert (branch.folder / "a.txt").read_text() == "meanwhile\n"
    assert refs(branch.folder, "refs/worktree") == {}


@pytest.mark.slow
def test_what_is_staged_meanwhile_is_seen_by_the_next_attempt(
    branch: Branch, monkeypatch: pytest.MonkeyPatch
) -> None:
    branch.put({"news.txt": "new\n"})
    check = move_worktree.check

    def and_then(*args: Any) -> None:
        check(*args)
        if not (branch.folder / "mine.txt").exists():
            branch.write(mine="mine\n")
            git(branch.folder, "add", "mine.txt")

    monkeypatch.setattr(move_worktree, "check", and_then)
    branch.update()
    assert branch.status() == ["A  mine.txt"]
