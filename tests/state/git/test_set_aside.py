"""Records that the remote refused: kept, read, sent again, deleted."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.ids import Actor
from ghp_agents.state.git import set_aside
from ghp_agents.state.git.set_aside import all_of, drop, retry
from ghp_agents.state.join import SetAside
from ghp_agents.state.record import Problem, Record
from ghp_agents.state.remote import Pushed, PushOutcome
from tests.state.clones import AT, RECORDS, note, said, store, workspace

Clones = Callable[[int], list[Path]]
REFUSED = Pushed(PushOutcome.REFUSED, "no", lines=("https://github.com/x/unblock-secret/1",))


def keep(folder: Path, record: Record) -> SetAside:
    return set_aside.put(workspace(folder), record, REFUSED)


def test_a_record_is_kept_once_and_read_here(repo: Path) -> None:
    record = note("a", 3)
    kept = keep(repo, record)
    assert keep(repo, record) == kept
    assert all_of(workspace(repo)) == [kept]
    assert kept == SetAside(
        kept.id,
        record,
        "no",
        ("https://github.com/x/unblock-secret/1",),
        workspace(repo).clock.now(),
    )
    assert kept.id.startswith("R-")
    assert store(repo).snapshot().files(RECORDS) == {f"{RECORDS}a": b"a"}
    assert store(repo).snapshot().own(RECORDS) == {f"{RECORDS}a": b"a"}
    assert store(repo).fold() == 0  # it is not committed by itself


@pytest.mark.slow
def test_a_record_that_is_sent_again_is_committed(clones: Clones) -> None:
    one, other = clones(2)
    first, second = keep(one, note("a", 3)), keep(one, note("b", 4))
    assert retry(workspace(one), [first.id]) == [first]
    assert all_of(workspace(one)) == [second]
    store(one).sync()
    store(other).sync()
    assert said(other) == ["a"]
    assert retry(workspace(one), []) == [second]
    store(one).sync()
    store(other).sync()
    assert said(other) == said(one) == ["a", "b"]
    assert list((one / ".git/ghp/refused").iterdir()) == []


def test_a_record_that_is_deleted_is_gone(repo: Path) -> None:
    first, second = keep(repo, note("a", 3)), keep(repo, note("b", 4))
    assert drop(workspace(repo), [first.id]) == [first]
    assert store(repo).snapshot().files(RECORDS) == {f"{RECORDS}b": b"b"}
    assert drop(workspace(repo), []) == [second]
    assert all_of(workspace(repo)) == []
    assert list((repo / ".git/ghp/refused").iterdir()) == []


def test_a_note_that_is_lost_or_broken_hides_no_record(repo: Path) -> None:
    kept = keep(repo, note("a", 3))
    (side,) = (repo / ".git/ghp/refused").glob("*.json")
    for broken in ("", "[]", '{"words": 3, "pages": 4, "at": "x"}'):
        side.write_text(broken)
        (aside,) = all_of(workspace(repo))
        assert (aside.id, aside.record, aside.at, aside.pages) == (kept.id, kept.record, 0.0, ())


def test_a_torn_record_is_named_and_hides_no_other(repo: Path) -> None:
    keep(repo, note("a", 3))
    torn = repo / ".git/ghp/refused/00000000000000000004-0000-ab.record"
    torn.write_text("{")
    snapshot = store(repo).snapshot()
    assert list(snapshot.files(RECORDS)) == [f"{RECORDS}a"]
    why = "not a whole record: its first line has no end"
    assert snapshot.problems() == [Problem(str(torn), why)]


def test_a_record_without_files_is_kept_with_its_words(repo: Path) -> None:
    record = Record("claim", Actor("worker-1"), "#1", "c1", AT, 5, (), 1, 2, "qz_x", "claim", "via")
    keep(repo, record)
    assert [kept.record for kept in all_of(workspace(repo))] == [record]
