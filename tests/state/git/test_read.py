"""Reading the state: what other clones' trees may be, and what of them is read."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ghp_agents.core.fields import LARGEST
from ghp_agents.git import loose
from ghp_agents.git.objects import Object, ObjectReader
from ghp_agents.state.git.store import GitRefsStore
from tests.state import strangers
from tests.state.clones import workspace
from tests.state.worker import say
from tests.support.git import git as run_git

Read = Callable[[ObjectReader, Sequence[str]], list[Object | None]]


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
    files = synced(clone).snapshot().files(".ghp/")
    assert dict(files) == {".ghp/notes/near": b"near", ".ghp/notes/ours": b"ours"}


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


def test_a_folder_that_no_clone_has_is_known_to_be_missing_without_asking(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = synced(clone).snapshot()
    requests = reads(monkeypatch)
    assert list(snapshot.present(".ghp/notes/")) == [".ghp/notes/ours"]
    assert [len(names) for names in requests if f"{snapshot.tips()[0].oid}:.ghp" in names] == [1]
    requests.clear()
    assert snapshot.present(".ghp/leases/") == {}
    assert [name for names in requests for name in names if name] == []


def test_a_tip_that_did_not_move_is_read_once(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = synced(clone)
    before = store.snapshot().tips()
    requests = reads(monkeypatch)
    assert store.snapshot().tips() == before
    assert requests == []
    say(workspace(clone), store, "more")
    assert [tip.oid for tip in store.snapshot().tips()] != [tip.oid for tip in before]


def reads(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The names of objects that readers are asked for from now on."""
    requests: list[list[str]] = []
    readers: list[type[ObjectReader]] = [ObjectReader, loose._Reader]
    for reader in readers:
        monkeypatch.setattr(reader, "read", recorded(reader.read, requests))
    return requests


def recorded(read: Read, requests: list[list[str]]) -> Read:
    """The method `read`, with the names that it is called with."""

    def method(self: ObjectReader, names: Sequence[str]) -> list[Object | None]:
        requests.append([*names])
        return read(self, names)

    return method
