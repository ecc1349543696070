"""Read, decide, commit against what was read. The only place that decides again."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TypeVar

from ghp_agents.core import moment
from ghp_agents.core.errors import StateMovedError
from ghp_agents.ports import Snapshot, StateStore
from ghp_agents.state.record import Record

T = TypeVar("T")

ATTEMPTS = 200  # two suffice under the lock; without locks a crowd needs more


def transact(store: StateStore, decide: Callable[[Snapshot], tuple[T, Sequence[Record]]]) -> T:
    """Let the pure `decide` turn a snapshot into a result and records, and commit the records.

    If another process wrote in between, `decide` runs again on the new state. The first try has no
    lock, later ones do: the lock avoids races, the comparison decides them. Raises StateMovedError
    after ATTEMPTS, and whatever `decide` raises.
    """
    for attempt in range(ATTEMPTS):
        with store.exclusive() if attempt else nullcontext():
            if attempt:
                moment.end()  # what the first try was based on is old
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
