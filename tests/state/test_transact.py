"""Read, decide, commit against what was read, and decide again when that moved."""

import contextlib
from collections.abc import Iterator, Sequence

import pytest

from ghp_agents.core.errors import ExitCode, RefusedError, StateMovedError
from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.ports import Snapshot
from ghp_agents.state.record import Record
from ghp_agents.state.transact import ATTEMPTS, transact
from tests.support.clock import ManualClock
from tests.support.twins.state import MemoryStore


class BusyStore(MemoryStore):
    """A store in which a rival is always first, `moves` times; it knows who held its lock."""

    def __init__(self, moves: int) -> None:
        super().__init__(ManualClock())
        self.moves = moves
        self.locked = 0
        self.commits: list[int] = []

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Count who is inside."""
        with super().exclusive():
            self.locked += 1
            yield
            self.locked -= 1

    def commit(self, records: Sequence[Record], expected: str) -> None:
        """The rival goes first."""
        self.commits.append(self.locked)
        if self.moves:
            self.moves -= 1
            super().commit([note("rival", self.snapshot().clock + 1)], self.snapshot().revision)
        super().commit(records, expected)


def note(name: str, clock: int) -> Record:
    at = Timestamp("2026-01-02T03:04:05Z")
    return Record("note", Actor("worker-1"), name, f"{name}-{clock}", at, clock, ())


def decide(snapshot: Snapshot) -> tuple[int, list[Record]]:
    return snapshot.clock, [note("mine", snapshot.clock + 1)]


def told(store: MemoryStore) -> list[str]:
    return [entry.object for entry in store.ledger()]


def test_a_decision_that_nobody_disturbs_takes_no_lock() -> None:
    store = BusyStore(moves=0)
    assert transact(store, decide) == 0
    assert (told(store), store.commits) == (["mine"], [0])


def test_after_a_rival_it_decides_again_under_the_lock_on_what_is_there_now() -> None:
    store = BusyStore(moves=3)
    assert transact(store, decide) == 3
    assert told(store) == ["rival"] * 3 + ["mine"]
    assert store.commits == [0, 1, 1, 1]
    assert store.locked == 0


def test_what_is_there_already_when_it_decides_again_is_not_said_twice() -> None:
    store = BusyStore(moves=1)

    def unless_said(snapshot: Snapshot) -> tuple[str, list[Record]]:
        return ("already", []) if snapshot.clock else ("said", [note("mine", 1)])

    assert transact(store, unless_said) == "already"
    assert told(store) == ["rival"]


def test_an_error_of_the_decision_is_the_error() -> None:
    def refuse(snapshot: Snapshot) -> tuple[None, list[Record]]:
        raise RefusedError("no", hint="ask")

    store = BusyStore(moves=0)
    with pytest.raises(RefusedError, match="no"):
        transact(store, refuse)
    assert store.commits == []


def test_it_gives_up_when_rivals_never_end_and_has_written_nothing() -> None:
    store = BusyStore(moves=ATTEMPTS + 1)
    with pytest.raises(StateMovedError) as caught:
        transact(store, decide)
    assert caught.value.exit_code is ExitCode.ERROR
    assert "Try again" in caught.value.hint
    assert set(told(store)) == {"rival"}
    assert store.locked == 0
