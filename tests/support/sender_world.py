"""A simulated world for what a command confirmed: one clone, its commands and its process in the
background, which is the real one. What is simulated is time, the remote, and who is killed when.

Whatever happens while the process waits or syncs is the next part of the schedule.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from ghp_agents.core.clock import to_text
from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.hotpath import background
from ghp_agents.ports import Snapshot
from ghp_agents.state.git import throttle
from ghp_agents.state.join import SyncReport, SyncStatus
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.sync import push_now
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock
from tests.support.context import make_context
from tests.support.twins.issues import MemoryTracker
from tests.support.twins.locks import Board, MemoryLocks
from tests.support.twins.state import MemoryRemote, MemoryStore
from tests.support.world_records import SENT_WITHIN

LATE = push_now.LONGEST_PAUSE + SENT_WITHIN  # after a remote can be reached again
PRESENCE_PAUSE = 25.0  # of two clones
STARTS = 0.5  # seconds until a process in the background is there
EVENTS = ("lease", "claim", "answer", "escalate", "stop", "release", "send")
WEIGHTS = {"records": 10, "beats": 8, "dies": 3, "kills": 1, "cuts": 1, "mends": 4, "passes": 10}
GAPS = (0.0, 0.1, 0.9, 1.9, 2.1, 5.0, 9.5, 11.0, 24.0, 61.0, 400.0)  # seconds between two steps


class Step(NamedTuple):
    """One thing that happens, some seconds after the one before."""

    kind: str
    after: float
    number: int


class KilledError(BaseException):
    """The process that runs is killed."""


class WaitingClock(ManualClock):
    """While a process waits, others go on."""

    def __init__(self, world: "SenderWorld") -> None:
        super().__init__()
        self._world = world

    def wait(self, seconds: float) -> None:
        self._world.until(self.now() + seconds)

    def pass_by(self, seconds: float) -> None:
        """Let time pass in which nothing happens."""
        super().wait(seconds)


class PacedStore(MemoryStore):
    """A store that keeps the pauses of the real one, and that others use meanwhile."""

    def __init__(self, world: "SenderWorld", hub: MemoryRemote) -> None:
        super().__init__(world.clock, "clone-1", hub)
        self.world, self.pushed_at, self.tried_at, self.trouble = world, 0.0, 0.0, False

    def commit(self, records: Sequence[Record], expected: str) -> None:
        """As the real one: what has been committed is sent by the process that is rung for."""
        super().commit(records, expected)
        self.world.ring()

    def sync(self, *, push: bool = True, paced: bool = False, fetch: bool = True) -> SyncReport:
        """An exchange, if it is time; others may act before and after it."""
        self.fold()
        now, unsent = self.world.clock.now(), self.unsent()
        last = self.pushed_at if unsent and not self.trouble else self.tried_at
        soonest = last + (throttle.pause(unsent) or PRESENCE_PAUSE)
        if paced and soonest > now:
            return SyncReport("hub", unsent=len(unsent), again_at=soonest)
        self.world.meanwhile()
        report = super().sync(push=push, fetch=fetch)
        self.tried_at, self.trouble = now, report.trouble is not None
        if report.pushed:
            self.pushed_at = now
            self.world.arrived()
        self.world.meanwhile()
        return report

    def unsent(self) -> list[str]:
        """The subjects of the commits that the remote lacks."""
        sent = len(self._hub.histories.get(self._clone, ())) if self._hub else 0
        return [commit.message.partition("\n")[0] for commit in self._known[self._clone][sent:]]

    def sync_status(self) -> SyncStatus:
        """With the number of records that are not sent."""
        records = [x for x in self.unsent() if not x.startswith("presence ")]
        return super().sync_status()._replace(records=len(records))


class SenderWorld:
    """A clone on its way through a schedule."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, seed: int, count: int) -> None:
        self.random, self.schedule = Random(seed), _steps(seed, count)
        self.clock = WaitingClock(self)
        self.hub = MemoryRemote()
        self.ws = self._workspace(folder)
        self.store = PacedStore(self, self.hub)
        locks = MemoryLocks(self.clock, Board(), "clone-1")
        self.ctx = make_context(self.ws, self.store, locks, MemoryTracker(self.clock))
        self.next = next(self.schedule, None)
        self.next_at = self.clock.now()
        self.due: dict[str, float] = {}  # until when a confirmed record has to be on the remote
        self.starts: list[float] = []  # when processes in the background are there
        self.depth = self.delivered = 0
        self.kill, self.killed_at = False, 0.0
        self.cut_at: float | None = None
        patch.setattr(background, "spawn", self._spawn)
        patch.setattr(push_now, "TIMEOUT_S", 0.0)

    def _workspace(self, folder: Path) -> Workspace:
        return open_workspace(folder, {"HOME": str(folder), "GHP_AGENT": "worker-1"}, self.clock)

    # -------------------------------------------------------------- the process in the background

    def _spawn(self, *_: object, **__: object) -> None:
        self.starts.append(self.clock.now() + STARTS)

    def _deliver(self) -> None:
        """One process in the background, until it ends or is killed."""
        self.depth += 1
        try:
            push_now.deliver(self.ctx)
        except KilledError:  # what it had to send waits for the next one
            self.kill, self.killed_at = False, self.clock.now()
            self.due = dict.fromkeys(self.due, float("inf"))
        finally:
            self.depth -= 1

    def ring(self) -> None:
        """A record was committed."""
        background.ring(self.ws.folders, {}, self.clock.now(), {})

    def arrived(self) -> None:
        """What was committed is on the remote."""
        now = self.clock.now()
        for name in [name for name in self.due if self._is_sent(name)]:
            due = self.due.pop(name)
            assert now <= due, f"{name} came {now - due:.1f} s too late"
            self.delivered += 1

    def _is_sent(self, name: str) -> bool:
        history = self.hub.histories.get(CloneId("clone-1"), ())
        return bool(history) and f"notes/{name}" in history[-1].files

    # -------------------------------------------------------------- what happens

    def run(self) -> None:
        """The whole schedule, and the time after it in which all must arrive."""
        while self.next:
            self.until(self.next_at)
        self._act(Step("mends", 0.0, 0))
        self._act(Step("records", 0.0, 1))
        self.until(self.clock.now() + LATE)
        assert not self.due, self.due

    def until(self, moment: float) -> None:
        """Let time pass, and happen what happens until then."""
        while True:
            start = min(self.starts, default=float("inf"))
            then = min(start, self.next_at if self.next else float("inf"))
            if then > moment:
                break
            self.clock.pass_by(max(0.0, then - self.clock.now()))
            if start <= then:
                self.starts.remove(start)
                self._deliver()
            else:
                self.meanwhile(always=True)
            if self.kill and self.depth:
                raise KilledError
        self.clock.pass_by(max(0.0, moment - self.clock.now()))

    def meanwhile(self, *, always: bool = False) -> None:
        """Just now, the next thing happens; sometimes, or `always`."""
        if self.next and (always or self.random.random() < 0.2):
            step, self.next = self.next, next(self.schedule, None)
            self.next_at = self.clock.now() + (self.next.after if self.next else 0.0)
            self._act(step)

    def _act(self, step: Step) -> None:
        match step.kind:
            case "records" | "dies":
                self._record(step)
            case "beats":
                self.store.beat("worker-1", _presence(step.number, self.clock.now()))
            case "kills":
                self.kill = bool(self.depth)
            case "cuts" if self.cut_at is None:
                self.hub.reachable, self.cut_at = False, self.clock.now()
                self.due = dict.fromkeys(self.due, float("inf"))
            case "mends" if self.cut_at is not None:
                self.hub.reachable, self.cut_at = True, None
                is_alive = self.starts or self.depth
                late = self.clock.now() + LATE if is_alive else float("inf")
                self.due = {name: min(due, late) for name, due in self.due.items()}

    def _record(self, step: Step) -> None:
        """A command confirms a record, and its process group is killed at once; or before."""
        name = f"{len(self.due)}-{step.number}-{self.clock.now():.1f}"
        event = EVENTS[step.number % len(EVENTS)]

        def decide(snapshot: Snapshot) -> tuple[None, list[Record]]:
            at = Timestamp(to_text(self.clock.now()))
            files = ((f"notes/{name}", b"x"),)
            clock = snapshot.clock + 1
            return None, [Record(event, Actor("worker-1"), name, name, at, clock, files)]

        transact(self.store, decide)
        if step.kind == "records":  # else it was killed before it confirmed
            self.due[name] = float("inf")
            if self.cut_at is None and (self.starts or self.depth or not self.was_killed()):
                bound = self.clock.now() + SENT_WITHIN
                self.due = {x: min(due, bound) for x, due in self.due.items()}

    def was_killed(self) -> bool:
        """Whether a process in the background was killed so soon after its start that the next
        command took it for one that stays."""
        return self.clock.now() < self.killed_at + background.SPAWN_PAUSE


def _presence(number: int, now: float) -> dict[str, object]:
    at = to_text(now)
    return {
        "issue": None, "status": "implementing", "lastAction": f"Step {number}", "timestamp": at,
        "epoch": 1, "seq": int(now * 10) % 2**40, "startedAt": at, "lastProgress": at,
    }  # fmt: skip


def _steps(seed: int, count: int) -> Iterator[Step]:
    random = Random(seed)
    for _ in range(count):
        (kind,) = random.choices([*WEIGHTS], [*WEIGHTS.values()])
        yield Step(kind, random.choice(GAPS), random.randrange(1_000))
