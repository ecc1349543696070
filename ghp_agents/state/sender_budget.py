"""How much the records of one sender start here in one sync, so that no flood holds a clone up.

A record can name any writer and any clone. So its sender is the clone whose ref has it. What this
clone wrote itself is not limited. What waits stays a record, and is counted.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

from ghp_agents.core.ids import CloneId, listed
from ghp_agents.hotpath.quoting import file
from ghp_agents.ports import Snapshot

T = TypeVar("T")

MOST = 10  # things of one kind that one sender starts
MOST_IN_ALL = 50  # of one kind by all senders: who may push can make many clones
LISTED = 5  # senders in a note
Senders = Collection[str]  # who has the record, in words; nobody: it is not limited


class SenderBudget:
    """What each sender may still start; one budget for all that a sync does."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._left: dict[str, Counter[str]] = {}
        self._writers: dict[str, Mapping[str, frozenset[CloneId]]] = {}

    def first(self, kind: str, items: Sequence[T], senders: Callable[[T], Senders]) -> list[T]:
        """The items that may start something now; of many, first one of each sender. `kind` is a
        plural noun, and is asked for once."""
        if len(items) <= MOST:
            return [*items]
        used: Counter[str] = Counter()
        now: list[tuple[int, T]] = []
        for item in items:
            # A copy on another ref must not use up the budget of the first writer.
            sender = min(senders(item), key=lambda name: used[name], default="")
            is_full = used[sender] >= MOST or used.total() - used[""] >= MOST_IN_ALL
            if sender and is_full:
                self._left.setdefault(sender, Counter())[kind] += 1
                continue
            now.append((used[sender], item))
            used[sender] += 1
        return [item for _, item in sorted(now, key=lambda pair: pair[0])]

    def writers(self, path: str) -> Senders:
        """The senders of a record; none if this clone wrote it."""
        folder = path[: path.index("/", path.index("/") + 1) + 1]
        if folder not in self._writers:
            self._writers[folder] = self._snapshot.writers(folder)
        clones = self._writers[folder].get(path) or {CloneId("unknown")}
        is_own = self._snapshot.clone in clones
        return () if is_own else [f"clone {file(clone)}" for clone in sorted(clones)]

    def notes(self) -> list[str]:
        """What waits, in one line; nothing if nothing does."""
        lines = [
            f"{sender}: {', '.join(f'{number} of its {kind}' for kind, number in kinds.items())}"
            for sender, kinds in self._left.items()
        ]
        return [f"Too much at once, so this waits: {listed(lines, LISTED)}."][: len(lines)]
