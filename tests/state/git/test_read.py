"""Reading the state: what other clones' trees may be, and what of them is read."""

from pathlib import Path

import pytest

from ghp_agents.core.fields import LARGEST
from ghp_agents.git.objects import read_objects
from ghp_agents.state.git.read import read_below
from ghp_agents.state.git.store import GitRefsStore
from tests.state import strangers
from tests.state.clones import workspace
from tests.state.worker import say
from tests.support.git import commit
from tests.support.git import git as run_git


def pretend(remote: Path, tree: str) -> None:
    """Let a clone called eve have `tree` on its ref."""
    run_git(remote, "update-ref", "refs/ghp/clone/eve", strangers.commit(remote, tree))


def synced(folder: Path) -> GitRefsStore:
    """A clone that has said something and heard the others."""
    ws = workspace(folder)
    store = GitRefsStore(ws)
    say(ws, store, "ours")
    assert store.sync().trouble is None
    return store


def bomb(remote: Path, depth: int) -> str:
    """A tree of ten trees of ten trees …: a kilobyte for each level, 10 ** depth files."""
    tree = strangers.blob(remote, b"x")
    mode = "100644"
    for _ in range(depth):
        tree = strangers.raw_tree(remote, *((mode, b"%d" % number, tree) for number in range(10)))
        mode = "40000"
    return tree


@pytest.mark.slow
def test_a_few_trees_that_stand_for_endless_files_are_not_read_and_hide_nobody(
    clone: Path, remote: Path
) -> None:
    notes = strangers.raw_tree(remote, ("40000", b"notes", bomb(remote, 9)))
    pretend(remote, strangers.raw_tree(remote, ("40000", b".ghp", notes)))
    snapshot = synced(clone).snapshot()
    assert list(snapshot.files(".ghp/notes/")) == [".ghp/notes/ours"]
    assert [(problem.place, problem.reason) for problem in snapshot.problems()] == [
        ("clone eve: .ghp/notes/", "more than 500000 files: none of them is read")
    ]
    assert snapshot.files(".ghp/issues/") == {}


@pytest.mark.slow
def test_what_lies_deeper_than_any_record_is_no_record(clone: Path, remote: Path) -> None:
    tree = strangers.raw_tree(remote, ("100644", b"x", strangers.blob(remote, b"x")))
    for _ in range(300):
        tree = strangers.raw_tree(remote, ("40000", b"d", tree))
    near = strangers.blob(remote, b"near")
    notes = strangers.raw_tree(remote, ("40000", b"d", tree), ("100644", b"near", near))
    ghp = strangers.raw_tree(remote, ("40000", b"notes", notes))
    pretend(remote, strangers.raw_tree(remote, ("40000", b".ghp", ghp)))
    found = synced(clone).snapshot().files(".ghp/")
    assert dict(found) == {".ghp/notes/near": b"near", ".ghp/notes/ours": b"ours"}


def test_a_file_that_is_too_large_is_left_out_and_named(repo: Path) -> None:
    head = commit(repo, {"a/small": b"x" * 200, "a/large": b"x" * 201, "a/b/small": b"y"})
    with read_objects(repo / ".git", largest=200) as reader:
        (found,) = read_below(reader, [head], "a/")
    assert found.files == {"a/small": b"x" * 200, "a/b/small": b"y"}
    assert found.left_out == {"a/large": f"more than {LARGEST // 1_000_000} MB"}


@pytest.mark.slow
def test_the_largest_file_that_a_host_takes_is_the_largest_that_is_read(
    clone: Path, remote: Path
) -> None:
    content = strangers.blob(remote, bytes(LARGEST + 1))
    notes = strangers.raw_tree(remote, ("100644", b"large", content))
    ghp = strangers.raw_tree(remote, ("40000", b"notes", notes), ("100644", b"x", content))
    pretend(remote, strangers.raw_tree(remote, ("40000", b".ghp", ghp)))
    snapshot = synced(clone).snapshot()
    assert list(snapshot.files(".ghp/notes/")) == [".ghp/notes/ours"]
    assert [problem.place for problem in snapshot.problems()] == ["clone eve: .ghp/notes/large"]
