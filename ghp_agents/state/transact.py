"""Read, decide, commit against what was read; the only place that decides again."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TypeVar

from ghp_agents.core.errors import StateMovedError
from ghp_agents.ports import Snapshot, StateStore
from ghp_agents.state.record import Record

T = TypeVar("T")

ATTEMPTS = 200  # two are enough under the lock; without one a crowd is only slower


def transact(store: StateStore, decide: Callable[[Snapshot], tuple[T, Sequence[Record]]]) -> T:
    """Let the pure `decide` turn a snapshot into a result and records, and commit the records.

    When somebody else wrote in between, it decides again on what is there now. The first try is
    made without the lock, the others under it: the lock ends the race, the comparison decides it.
    Raises StateMovedError after ATTEMPTS, and whatever `decide` raises.
    """
    for attempt in range(ATTEMPTS):
        with store.exclusive() if attempt else nullcontext():
            snapshot = store.snapshot()
            result, records = decide(snapshot)
            if not records:
                return result
            try:
                store.commit(records, expected=snapshot.revision)
            except StateMovedError:
                continue
            return result
    raise StateMovedError
