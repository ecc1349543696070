"""The state in memory: the twin of `state/git/store.py`. Clones sync through a hub."""

import contextlib
import threading
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ghp_agents.core.clock import to_seconds, to_text
from ghp_agents.core.errors import StateMovedError
from ghp_agents.core.ids import Actor, CloneId, Timestamp, digest
from ghp_agents.ports import Clock, Snapshot
from ghp_agents.state import join, ledger, presence
from ghp_agents.state.join import Absorption, SetAside, Settled, SyncReport, SyncStatus, Tip
from ghp_agents.state.ledger import LedgerEntry
from ghp_agents.state.presence import Agents, Presence
from ghp_agents.state.record import Problem, Record, highest
from ghp_agents.state.transact import transact


@dataclass(frozen=True, slots=True)
class MemoryCommit:
    """One entry of a clone's history, with the clone's state at that time."""

    clock: int
    at: Timestamp
    message: str
    agents: Agents
    files: Mapping[str, bytes]
    absorbed: "tuple[tuple[CloneId, History], ...]" = ()  # absorbed clones


History = tuple[MemoryCommit, ...]


def _with_absorbed(histories: Mapping[CloneId, History]) -> Iterator[tuple[CloneId, History]]:
    """All histories, including absorbed ones."""
    for clone, history in histories.items():
        yield clone, history
        for commit in history:
            yield from _with_absorbed(dict(commit.absorbed))


@dataclass
class MemoryRemote:
    """Stands for a bare remote."""

    histories: dict[CloneId, History] = field(default_factory=dict)
    published: bytes | None = None
    pages: Mapping[str, bytes] = field(default_factory=dict)
    reachable: bool = True


class MemoryStore:
    """One clone. Clones that share a `MemoryRemote` see each other after a sync."""

    def __init__(
        self, clock: Clock, clone: str = "memory", hub: MemoryRemote | None = None
    ) -> None:
        self._clock = clock
        self._clone = CloneId(clone)
        self._hub = hub
        self._known: dict[CloneId, History] = {self._clone: ()}
        self._live: dict[str, tuple[Presence, float]] = {}
        self._news_at: float | None = None
        self._asked_at: float | None = None
        self._heard: tuple[str, float] | None = None
        self._lock = threading.RLock()
        self._beside: list[Record] = []

    def beat(self, agent: str, record: Presence) -> None:
        """Keep the live presence of `agent`, as `heartbeat.beat` does in a file."""
        self._live[agent] = (record, self._clock.now())

    def snapshot(self, at: float | None = None) -> "MemorySnapshot":
        """The state now, or at a time."""
        with self._lock:
            if at is None:
                return MemorySnapshot(self._clone, dict(self._known), dict(self._live))
            then: dict[CloneId, History] = {self._clone: ()}
            for clone, history in _with_absorbed(self._known):
                past = tuple(commit for commit in history if to_seconds(commit.at) <= at)
                then[clone] = max(then.get(clone, ()), past, key=len)
            return MemorySnapshot(self._clone, then, {})

    def commit(self, records: Sequence[Record], expected: str) -> None:
        """Add records if nothing was added since `expected`."""
        with self._lock:
            snapshot = self.snapshot()
            if snapshot.revision != expected:
                raise StateMovedError
            clock = snapshot.clock
            for record in [*records, *self._beside]:
                clock = max(clock + 1, record.clock)
                message = ledger.message(record, clock, self._clone)
                self._append(clock, message, record.at, files=dict(record.files))
            self._beside = []

    @contextlib.contextmanager
    def commit_with(self, records: Sequence[Record]) -> Iterator[None]:
        """Add `records` in the same step as the next commit, or at the end."""
        self._beside = [*records]
        try:
            yield
            left, self._beside = self._beside, []
            if left:
                transact(self, lambda _: (None, left))
        finally:
            self._beside = []

    def fold(self) -> int:
        """Add live presence to the history."""
        with self._lock:
            previous = self._tip_agents()
            now = {name: presence.published(record) for name, (record, _) in self._live.items()}
            changed = {
                n: p
                for n, p in now.items()
                if presence.merge([previous, {n: p}])[n] != previous.get(n)
            }
            if not changed:
                return 0
            moves = [presence.movement(n, previous.get(n), p) for n, p in sorted(changed.items())]
            clock = self.snapshot().clock + 1
            message = ledger.presence_message(
                [move for move in moves if move], len(changed), clock, self._clone
            )
            at = Timestamp(to_text(self._clock.now()))
            self._append(clock, message, at, agents=presence.merge([previous, changed]))
            return 1

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Keep other threads from writing."""
        with self._lock:
            yield

    def sync(self, *, push: bool = True, paced: bool = False, fetch: bool = True) -> SyncReport:
        """Exchange with the hub."""
        self.fold()
        hub = self._hub
        if hub is None:
            return SyncReport(remote=None)
        mine = self._known[self._clone]
        self._asked_at = self._clock.now()
        if not hub.reachable:
            unsent = len(mine) - len(hub.histories.get(self._clone, ()))
            return SyncReport(remote="hub", unsent=unsent, trouble="the hub cannot be reached")
        news = self._fetch(hub) if fetch else 0
        sent = hub.histories.get(self._clone, ())
        if push and mine:  # a clone without commits is invisible to the others
            hub.histories[self._clone] = mine
        unsent = 0 if push else len(mine) - len(sent)
        pushed = push and sent != mine
        return SyncReport(remote="hub", fetched=fetch, pushed=pushed, news=news, unsent=unsent)

    def _fetch(self, hub: "MemoryRemote") -> int:
        """Take over what the others sent; returns how many of them have sent something new."""
        self._news_at, self._heard = self._clock.now(), self._clock.interval()
        others = {clone: log for clone, log in hub.histories.items() if clone != self._clone}
        news = sum(1 for clone, log in others.items() if self._known.get(clone) != log)
        self._known = {self._clone: self._known[self._clone]} | others
        return news

    def hear(self, timeout: float, *, needed: bool = False) -> SyncReport:
        """Only fetch; this hub answers at once or never."""
        return self.sync(push=False)

    def set_aside(self) -> list[SetAside]:
        """Nothing: the hub accepts every record."""
        return []

    def retry_refused(self, ids: Collection[str]) -> list[SetAside]:
        """Nothing was set aside."""
        return []

    def drop_refused(self, ids: Collection[str]) -> list[SetAside]:
        """Nothing was set aside."""
        return []

    def remote(self) -> str | None:
        """The hub, if there is one."""
        return None if self._hub is None else "hub"

    def sync_status(self) -> SyncStatus:
        """This clone's sync status."""
        if self._hub is None:
            return SyncStatus()
        sent = self._hub.histories.get(self._clone, ())
        unsent = len(self._known[self._clone]) - len(sent)
        return SyncStatus(remote="hub", news_at=self._news_at, unsent=unsent)

    def news_age(self) -> float | None:
        """Seconds since the last news from the hub."""
        boot, seconds = self._clock.interval()
        if self._hub is None or self._heard is None or self._heard[0] != boot:
            return None
        return max(0.0, seconds - self._heard[1])

    def news_at(self) -> float | None:
        """When the last news came from the hub."""
        return self._news_at if self._hub else None

    def asked_at(self) -> float | None:
        """When the hub was last asked."""
        return self._asked_at if self._hub else None

    def publish(
        self,
        pages: Callable[[Snapshot, Agents], Mapping[str, bytes]],
        *,
        gone: Collection[str] = (),
        create: bool = True,
    ) -> SyncReport:
        """Put the joined presence on the hub."""
        report = self.sync()
        if self._hub is not None and self._hub.reachable and (create or self._hub.published):
            agents = self.snapshot().agents()
            present = {name: record for name, record in agents.items() if name not in gone}
            self._hub.published = presence.encode(present)
            self._hub.pages = pages(self.snapshot(), present)
        return report

    def ledger(self, after: Sequence[Tip] = ()) -> list[LedgerEntry]:
        """All entries, or all after some tips, in ledger order."""
        positions = {tip.clone: int(tip.oid.rpartition("-")[2]) for tip in after}
        entries: set[LedgerEntry] = set()
        for clone, history in _with_absorbed(self._known):
            for index, commit in enumerate(history):
                if index > positions.get(clone, -1):
                    entries |= set(ledger.entries(f"{clone}-{index}", commit.at, commit.message))
        return sorted(entries)

    def absorb_clones(self, tips: Sequence[Tip], by: Actor) -> Absorption:
        """Merge other clones' records, and remove them from the hub."""
        with self._lock:
            for tip in tips:
                history = self._known.get(tip.clone, ())
                if tip.clone != self._clone and history and not self._has(tip.clone, history):
                    self._join(tip.clone, history, by)
        report = self.sync()
        others = [tip for tip in tips if tip.clone != self._clone]
        if self._hub is None or not report.fetched:
            why = report.trouble or "there is no remote"
            return Absorption(left=tuple((tip.clone, why) for tip in others))
        moved = [tip for tip in others if self._tip_on_hub(tip.clone) != tip.oid]
        gone = tuple(tip.clone for tip in others if tip not in moved)
        for clone in gone:
            del self._hub.histories[clone], self._known[clone]
        return Absorption(gone, tuple((tip.clone, "it was active again") for tip in moved))

    def compact(self, subjects: Sequence[Settled]) -> int:
        """Keep all records at the tip: nothing here gets slow."""
        return 0

    def use_clone_id(self, clone: CloneId) -> None:
        """Use another clone's id from now on."""
        if clone == self._clone:
            return
        before, history = self._clone, self._known.pop(self._clone)
        self._clone = clone
        self._known.setdefault(clone, ())
        if history:
            self._join(before, history, Actor("Sweeper", is_person=True))

    def _has(self, clone: CloneId, history: History) -> bool:
        mine = _with_absorbed({self._clone: self._known[self._clone]})
        return any(
            other == clone and history_there[: len(history)] == history
            for other, history_there in mine
        )

    def _join(self, clone: CloneId, history: History, by: Actor) -> None:
        last, at = history[-1], Timestamp(to_text(self._clock.now()))
        clock = max(self.snapshot().clock, last.clock) + 1
        record = Record("absorb", by, clone, digest("absorb", clone, str(len(history))), at, 0, ())
        agents = presence.merge([self._tip_agents(), last.agents])
        mine = self._known[self._clone]
        joined = join.join_files([mine[-1].files if mine else {}, last.files])
        message = ledger.message(record, clock, self._clone)
        commit = MemoryCommit(clock, at, message, agents, joined, ((clone, history),))
        self._known[self._clone] = (*mine, commit)

    def _tip_on_hub(self, clone: CloneId) -> str:
        history = self._hub.histories.get(clone, ()) if self._hub else ()
        return f"{clone}-{len(history) - 1}"

    def _append(
        self,
        clock: int,
        message: str,
        at: Timestamp,
        *,
        agents: Agents | None = None,
        files: Mapping[str, bytes] | None = None,
    ) -> None:
        history = self._known[self._clone]
        merged = dict(history[-1].files) if history else {}
        merged |= files or {}
        current = agents if agents is not None else self._tip_agents()
        self._known[self._clone] = (
            *history,
            MemoryCommit(clock, at, message, current, merged),
        )

    def _tip_agents(self) -> Agents:
        history = self._known[self._clone]
        return history[-1].agents if history else {}


@dataclass(frozen=True)
class MemorySnapshot:
    """The join of histories in memory."""

    clone: CloneId
    histories: Mapping[CloneId, History]
    live: Mapping[str, tuple[Presence, float]]
    derived: dict[Hashable, Any] = field(default_factory=dict, compare=False)

    @property
    def revision(self) -> str:
        """The length of this clone's history."""
        return str(len(self.histories[self.clone]))

    @property
    def clock(self) -> int:
        """The highest clock of any history."""
        return highest(*(log[-1].clock for log in self.histories.values() if log))

    def tips(self) -> list[Tip]:
        """Every known clone, this one first."""
        order = sorted(self.histories, key=lambda clone: (clone != self.clone, clone))
        return [
            Tip(clone, f"{clone}-{len(log) - 1}", log[-1].clock, log[-1].at)
            for clone in order
            if (log := self.histories[clone])
        ]

    def agents(self) -> dict[str, Presence]:
        """The newest presence of each agent."""
        return presence.merge(self.agents_of(clone) for clone in self.histories)

    def agents_of(self, clone: CloneId) -> Agents:
        """Presence according to one clone."""
        return self._agents.get(clone, {})

    @cached_property
    def _agents(self) -> dict[CloneId, Agents]:
        agents = {clone: log[-1].agents if log else {} for clone, log in self.histories.items()}
        clones = [*agents]
        for name, numbers in presence.leaps([*agents.values()]).items():
            for clone in (clones[number] for number in numbers):
                agents[clone] = {
                    other: record for other, record in agents[clone].items() if other != name
                }
        live = {name: presence.published(record) for name, (record, _) in self.live.items()}
        return agents | {self.clone: presence.merge([agents.get(self.clone, {}), live])}

    def beaten(self) -> Mapping[str, float]:
        """When each live agent of this clone last sent a heartbeat."""
        return {name: moment for name, (_, moment) in self.live.items()}

    def files(self, prefix: str) -> dict[str, bytes]:
        """All records below `prefix`."""
        joined = join.join_files(log[-1].files for log in self.histories.values() if log)
        return {path: joined[path] for path in sorted(joined) if path.startswith(prefix)}

    def present(self, prefix: str) -> dict[str, bytes]:
        """All records: this twin takes none off its tips."""
        return self.files(prefix)

    def stamps(self, prefix: str) -> dict[str, str]:
        """The folders directly below `prefix`, each with the digest of its files."""
        folders: dict[str, list[str]] = {}
        for path, data in self.files(prefix).items():
            folder = path[len(prefix) :].partition("/")[0]
            folders.setdefault(f"{prefix}{folder}/", []).append(f"{path} {data!r}")
        return {folder: digest(*files) for folder, files in folders.items()}

    def settled(self, prefixes: Collection[str]) -> dict[str, bytes]:
        """No record is settled."""
        return {}

    def own(self, prefix: str) -> dict[str, bytes]:
        """This clone's own records below `prefix`."""
        history = self.histories[self.clone]
        own_files = history[-1].files if history else {}
        return {path: own_files[path] for path in sorted(own_files) if path.startswith(prefix)}

    def writers(self, prefix: str) -> dict[str, frozenset[CloneId]]:
        trees = {clone: past[-1].files for clone, past in self.histories.items() if past}
        paths = {x for tree in trees.values() for x in tree if x.startswith(prefix)}
        return {x: frozenset(y for y in trees if x in trees[y]) for x in paths}

    def problems(self) -> list[Problem]:
        """Records in memory are never broken."""
        return []
