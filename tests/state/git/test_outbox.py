"""The outbox: what counts as said waits whole, in its order, and stops nobody."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import ExitCode, GhpError
from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.state import record as records
from ghp_agents.state.git import outbox
from ghp_agents.state.git.store import GitRefsStore
from ghp_agents.state.record import Record
from ghp_agents.workspace import Workspace
from tests.state.clones import workspace

CAUSE = OSError("the lock was held")


@pytest.fixture
def ws(repo: Path) -> Workspace:
    return workspace(repo)


def note(name: str, clock: int = 1, id: str = "", path: str = "", at: str = "") -> Record:
    """A record of one file, or of none where `path` is a dash."""
    files = () if path == "-" else ((path or f".ghp/notes/{name}.md", name.encode()),)
    when = Timestamp(at or "2026-01-02T03:04:05Z")
    return Record("note", Actor("worker-1"), name, id or name, when, clock, files)


def waiting(ws: Workspace) -> list[str]:
    return [record.object for _, record in outbox.waiting(ws).records]


def test_records_wait_in_the_order_in_which_they_were_said(ws: Workspace) -> None:
    outbox.put(ws, [note("z"), note("a")], CAUSE)
    outbox.put(ws, [note("first", clock=0), note("last", clock=10**15)], CAUSE)
    assert waiting(ws) == ["first", "z", "a", "last"]


def test_two_records_of_one_id_are_two_records(ws: Workspace) -> None:
    outbox.put(ws, [note("a", id="12"), note("b", id="12")], CAUSE)
    outbox.put(ws, [note("c", id="12")], CAUSE)
    assert sorted(waiting(ws)) == ["a", "b", "c"]


def test_saying_the_same_again_writes_no_second_record(ws: Workspace) -> None:
    for _ in range(2):
        outbox.put(ws, [note("a"), note("b")], CAUSE)
    assert waiting(ws) == ["a", "b"]


@pytest.mark.parametrize("id", ["../../x", "a/b", "x" * 400, "", "\0"])
def test_no_id_of_a_record_becomes_a_path(ws: Workspace, id: str) -> None:
    outbox.put(ws, [note("a", id=id)], CAUSE)
    (waiting,) = outbox.waiting(ws).records
    assert waiting[1].id == (id or "a")
    assert waiting[0].parent == ws.ghp_dir / "outbox"


def test_when_one_record_cannot_be_kept_none_is(ws: Workspace) -> None:
    records_ = [note("a"), note("b")]
    outbox.put(ws, records_, CAUSE)
    names = [path.name for path, _ in outbox.waiting(ws).records]
    for folder in outbox.folders(ws):
        for path in folder.glob("*"):
            path.unlink()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / names[1] / "in the way").mkdir(parents=True)
    with pytest.raises(GhpError, match="Nothing was recorded") as caught:
        outbox.put(ws, records_, CAUSE)
    assert caught.value.exit_code is ExitCode.ERROR
    assert "GHP_STATE_DIR" in caught.value.hint
    assert waiting(ws) == []


def test_what_the_clones_folder_does_not_take_waits_in_the_spare_one(ws: Workspace) -> None:
    ws.ghp_dir.mkdir()
    (ws.ghp_dir / "outbox").write_text("in the way")
    outbox.put(ws, [note("a")], CAUSE)
    assert [path.parent for path, _ in outbox.waiting(ws).records] == [ws.spare_dir / "outbox"]


def test_a_record_that_waits_in_both_folders_is_committed_once(ws: Workspace) -> None:
    outbox.put(ws, [note("a"), note("event only", path="-")], CAUSE)
    spare = ws.spare_dir / "outbox"
    spare.mkdir(parents=True)
    for path in (ws.ghp_dir / "outbox").iterdir():
        (spare / path.name).write_bytes(path.read_bytes())
    store = GitRefsStore(ws)
    assert [store.fold(), store.fold(), store.fold()] == [2, 0, 0]
    assert [entry.object for entry in store.ledger()] == ["a", "event only"]
    assert waiting(ws) == []


BAD = {
    "torn": records.encode(note("torn"))[:-1],
    "empty": b"",
    "foreign": b"hello\n",
    "a-path-that-leads-outside": records.encode(note("x", path="../../x")),
    "a-path-relative-to-here": records.encode(note("x", path="./x")),
    "a-path-into-a-hook": records.encode(note("x", path=".git/hooks/post-commit")),
    "a-path-of-two-lines": records.encode(note("x", path="a\nM 100644 inline b")),
    "a-path-that-is-no-text": records.encode(note("x", path="\udcff")),
    "a-time-that-is-none": records.encode(note("x", at="yesterday")),
    "a-time-before-all-time": records.encode(note("x", at="0001-01-01T00:00:00+14:00")),
}


@pytest.mark.parametrize("name", BAD)
def test_a_record_that_cannot_be_committed_is_reported_and_stops_nobody(
    ws: Workspace, name: str
) -> None:
    folder = ws.ghp_dir / "outbox"
    folder.mkdir(parents=True)
    bad = folder / f"{0:020d}-0000-{name}.record"
    bad.write_bytes(BAD[name])
    (folder / "README").write_text("not a record, and not ours")
    outbox.put(ws, [note("good")], CAUSE)
    store = GitRefsStore(ws)
    assert store.fold() == 1
    assert list(store.snapshot().files(".ghp/")) == [".ghp/notes/good.md"]
    assert [problem.place for problem in store.snapshot().problems()] == [str(bad)]
    assert bad.read_bytes() == BAD[name]


def test_a_record_is_in_the_state_while_it_waits(ws: Workspace) -> None:
    outbox.put(ws, [note("a", clock=41)], CAUSE)
    store = GitRefsStore(ws)
    snapshot = store.snapshot()
    assert dict(snapshot.files(".ghp/notes/")) == {".ghp/notes/a.md": b"a"}
    assert snapshot.clock == 41
    assert store.sync_status().waiting == 1
    store.fold()
    assert store.snapshot().clock == 41
    assert store.sync_status().waiting == 0


def test_a_record_that_came_to_wait_since_then_makes_one_decide_again(ws: Workspace) -> None:
    store = GitRefsStore(ws)
    revision = store.snapshot().revision
    outbox.put(ws, [note("a")], CAUSE)
    assert store.snapshot().revision != revision
