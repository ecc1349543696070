"""A simulated world for the laws of authority: clones around one remote, each with a clock of its
own, in which agents and people claim, take over, steal, lease, die and come back. What goes wrong
with remotes, clocks, folders and processes is in `disasters.py`.

The services are the real ones, on the stores and locks in memory; presence is in real files, as
it always is. What is simulated is time, the network and who gets in between.
"""

import os
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from ghp_agents.core.ids import CloneId
from ghp_agents.hotpath import background
from ghp_agents.hotpath.locate import Location
from ghp_agents.hotpath.presence_file import read_presence as read_presence
from ghp_agents.leases.hold import Hold
from ghp_agents.locks import names
from ghp_agents.locks.lock import Lock
from ghp_agents.messages.message import Message
from ghp_agents.state.join import SyncReport
from ghp_agents.state.presence import next_epoch
from ghp_agents.state.record import Record
from ghp_agents.workspace import Workspace
from tests.support.clock import ManualClock
from tests.support.consent import mine
from tests.support.skewed_clock import SkewedClock
from tests.support.twins.issues import MemoryTracker
from tests.support.twins.locks import Board, MemoryLocks
from tests.support.twins.state import MemoryRemote, MemorySnapshot, MemoryStore
from tests.support.world_files import PERSON as PERSON
from tests.support.world_files import PersonsWorkspace, template
from tests.support.world_records import (
    DEAD_AFTER,
    STALE_AFTER,
    Backup,
    Life,
    Session,
    Sign,
    Work,
    Write,
    has_name,
)  # fmt: skip

CLONES = 3
AGENTS = ("worker-1", "worker-2", "worker-3", "worker-4")
WITH_PROCESS = ("worker-4",)  # whose process is known to its machine
ORCHESTRATOR = "worker-3"
AMENDED = 100  # nanoseconds; what only reports of a process moves the file's time by one
LIMITS = {
    "capabilities": {"worker-1": ["tests"]}, "messagesPerHour": 6, "maxRounds": 3,
    "shareChanges": False, "trunk": "none",  # nothing is merged here
}  # fmt: skip
SKEWS = (-3_600, 0, 3_600, -1_200, 2_400)  # seconds by which the clones' clocks are wrong


class WorldLocks(MemoryLocks):
    """A clone's locks: tells the world what it wrote, and lets others get in before it does."""

    def __init__(self, world: "World", clone: int, clock: SkewedClock, board: Board) -> None:
        super().__init__(clock, board, f"clone-{clone}")
        self.world, self.number, self.line = world, clone, board

    def _swap(self, expected: Lock | None, new: Lock) -> Lock:
        # Whoever comes in between may wake a holder that was found dead: that is too late for it.
        holder = self._now(new.name)
        lived = self.world.holder_lives(holder, self.number)
        moved = self.world.holder_lives(holder, self.number, STALE_AFTER)
        self.world.interlope()
        before = self._now(new.name)
        try:
            return super()._swap(expected, new)
        finally:
            after = self.line.leases.get(new.name)
            if after is new or (after and after.nonce == new.nonce):
                self.world.wrote(before, after, self.number, lived, moved)

    def _now(self, name: str) -> Lock | None:
        """The right as it is; if it was lost, as this clone puts it back."""
        return self._read_board(name) if self.line.reachable else self.line.leases.get(name)

    def take_over(self, other: "WorldLocks") -> None:
        """Know all that another clone's locks knows."""
        self._known, self._chains = dict(other._known), dict(other._chains)


class WorldStore(MemoryStore):
    """A clone's store: live presence is in files, and others get in before a commit."""

    def __init__(self, world: "World", clone: int, clock: SkewedClock, hub: MemoryRemote) -> None:
        super().__init__(clock, f"clone-{clone}", hub)
        self.world, self.number, self.clock = world, clone, clock
        self.folder = world.folder / f"c{clone}/.git/ghp/agents"
        self._stamped: dict[str, int] = {}

    def look_at_files(self) -> None:
        """Take over live presence; a file that was written since has this machine's time, unless
        its machine only reported of its process: that is no heartbeat."""
        if not self.folder.is_dir():
            return
        for entry in os.scandir(self.folder):
            if not entry.name.endswith(".json"):
                continue
            before, stamp = self._stamped.get(entry.name, 0), entry.stat().st_mtime_ns
            presence = read_presence(entry.path) if stamp != before else None
            if presence is None:
                continue
            name = entry.name.removesuffix(".json")
            if 0 < stamp - before < AMENDED and name in self._live:
                self._live[name] = (presence, self._live[name][1])
            else:
                now = self.clock.now()
                os.utime(entry.path, (now, now))
                self.beat(name, presence)
            self._stamped[entry.name] = Path(entry.path).stat().st_mtime_ns
            self.world.beaten(name, self.number, presence)

    def snapshot(self, at: float | None = None) -> MemorySnapshot:
        """The state, with what the files say."""
        self.look_at_files()
        return super().snapshot(at)

    def fold(self) -> int:
        """Bring what the files say into the history."""
        self.look_at_files()
        return super().fold()

    def commit(self, records: Sequence[Record], expected: str) -> None:
        """Add records, unless somebody was faster."""
        self.world.interlope()
        super().commit(records, expected)
        self.world.committed += [(self.number, record.id) for record in records]
        folders = self.world.workspace(self.number, None).folders
        background.ring(folders, {background.SPAWNED: "1"}, self.clock.now(), {})

    def sync(self, *, push: bool = True, paced: bool = False, fetch: bool = True) -> SyncReport:
        """Exchange with the remote; rights come along."""
        clone = self.world.clones[self.number]
        clone.cut(away=not clone.board.reachable)  # a line that broke is broken for all
        if clone.loses_answer and clone.hub.reachable:
            return self._lose_answer(clone)
        report = super().sync(push=push, paced=paced, fetch=fetch)
        if report.fetched:
            clone.locks.hear()
            self.world.synced(self.number)
        return report

    def take_over(self, other: "WorldStore") -> None:
        """Be a copy of another clone's store, with an id of its own."""
        self._known = {**other._known, self._clone: other._known[other._clone]}
        self._news_at, self._heard = other._news_at, other._heard
        self._live, self._stamped = dict(other._live), dict(other._stamped)

    def _lose_answer(self, clone: "Clone") -> SyncReport:
        """What is said here reaches the remote, and nobody here hears of it."""
        clone.loses_answer = False
        self.fold()
        if self._known[self._clone]:
            clone.hub.histories[self._clone] = self._known[self._clone]
            self.world.sent(self.number)
        return SyncReport(remote="hub", trouble="the answer was lost")


@dataclass
class Clone:
    """One clone on one machine, with a line to the remote that can be cut."""

    number: int
    clock: SkewedClock
    hub: MemoryRemote
    board: Board
    store: WorldStore = field(init=False)
    locks: WorldLocks = field(init=False)
    heard: dict["Life", "Sign"] = field(default_factory=dict)  # by the last sync
    heard_at: float | None = None
    copied: dict["Life", "Sign"] = field(default_factory=dict)  # in files that came with a copy
    loses_answer: bool = False  # of the next exchange

    def copy_from(self, other: "Clone") -> None:
        """Know all that another clone knows, as its copy does, and go by another id."""
        self.heard, self.heard_at = dict(other.heard), other.heard_at
        self.store.take_over(other.store)
        self.locks.take_over(other.locks)

    def cut(self, *, away: bool) -> None:
        """The remote cannot be reached from here, or can be again."""
        self.hub.reachable = self.board.reachable = not away


class World:
    """All of it, and what is true in it, whoever knows that."""

    lock_services: type[WorldLocks] = WorldLocks
    stores: type[WorldStore] = WorldStore

    def __init__(self, folder: Path, seed: int, *, clones: int = CLONES) -> None:
        self.folder = folder
        mine({"agents": {"orchestrators": [ORCHESTRATOR], **LIMITS}}, folder)
        self.random = Random(seed)
        self.clock = ManualClock()
        hub, board = MemoryRemote(), Board(token=self._token)
        self.board = board
        self.tracker = MemoryTracker(self.clock)
        self.hub = hub
        self.clones: dict[int, Clone] = {}
        self.removed: set[int] = set()
        self.seats = [self.add_clone() for _ in range(clones)]  # the clone in each place
        self.sessions: dict[str, list[Session]] = {name: [] for name in AGENTS}
        self.asleep: set[Session] = set()  # they do nothing, and may wake
        self.ended: set[Session] = set()
        self.writes: list[Write] = []
        self.committed: list[tuple[int, str]] = []  # clone, id of a record
        self.senders: set[int] = set()  # clones in which a process in the background has to send
        self.works: list[Work] = []  # files in worktrees
        self.lines = 0  # that were ever written
        self.beats: dict[Life, Sign] = {}
        self.reached: dict[Life, Sign] = {}  # the remote
        self.taken_at: dict[str, float] = {}  # when a right was taken, by its nonce
        self.acting: list[tuple[str, str]] = []  # how, and who; the innermost last
        self.rivals: list[Callable[[], None]] = []
        self.strict: list[Hold] = []  # leases over all clones, as they were acknowledged
        self.letters: list[Message] = []  # as they were acknowledged to their senders
        self.told: dict[tuple[int, str], list[str]] = {}  # by clone and agent, what was told
        self.counts: Counter[str] = Counter()
        self.killed: set[Life] = set()  # their processes have ended
        self.backup: Backup | None = None
        self.peaks: dict[str, int] = {}  # the highest generation that each right ever had
        self._workspaces: dict[tuple[int, str | None, str], Workspace] = {}

    def _token(self, size: int) -> str:
        return self.random.randbytes(size).hex()

    def add_clone(self, original: "Clone | None" = None) -> int:
        """A new clone, or a copy of another one, on the same machine."""
        number, board = len(self.clones) + len(self.removed), self.board
        folder = template() if original is None else self.folder / f"c{original.number}"
        shutil.copytree(folder, self.folder / f"c{number}")
        line = Board(board.leases, board.histories, lock=board.lock, token=board.token)
        clock = SkewedClock(self.clock, SKEWS[number % len(SKEWS)])
        clock = original.clock if original else clock
        clone = Clone(number, clock, MemoryRemote(self.hub.histories), line)
        clone.store = self.stores(self, number, clock, clone.hub)
        clone.locks = self.lock_services(self, number, clock, line)
        self.clones[number] = clone
        return number

    def workspace(self, clone: int, agent: str | None, token: str = "") -> Workspace:
        """Where an agent acts, or with None the person."""
        key = clone, agent, token
        if key not in self._workspaces:
            self._workspaces[key] = self._workspace(*key)
        return self._workspaces[key]

    def _workspace(self, clone: int, agent: str | None, token: str) -> Workspace:
        folder = self.folder / f"c{clone}"
        place = Location(str(folder), f"{folder}/.git", f"{folder}/.git")
        environ = {"HOME": str(self.folder), "GHP_BACKGROUND": "0"}
        if agent is None:
            return PersonsWorkspace(place, environ, self.clones[clone].clock)
        environ |= {"GHP_AGENT": agent, "CLAUDE_CODE_SESSION_ID": token}
        if agent in WITH_PROCESS:
            environ["GHP_AGENT_PID"] = str(os.getpid())
        return Workspace(place, environ, self.clones[clone].clock)

    def begin(self, agent: str, clone: int) -> Session:
        """A new life of an agent; an earlier one in the same clone ends, one elsewhere goes on."""
        lives = self.sessions[agent]
        self.ended |= {life for life in lives if life.clone == clone}
        number = len(lives) + 1
        token = f"{AGENTS.index(agent):04x}{number:04x}-0d7e-4f4b-9a53-1f5f0e7c3b21"
        lives.append(Session(agent, clone, token))
        return lives[-1]

    def awake(self, agent: str, *, former: bool = False) -> Session | None:
        """The life of an agent that can act; with `former` an earlier one that does not know of
        the later."""
        able = [x for x in self.sessions[agent] if x not in self.asleep and x not in self.ended]
        if former and len(able) > 1:
            return able[0]
        return able[-1] if able and able[-1] == self.sessions[agent][-1] else None

    def epoch(self, clone: int, agent: str) -> int:
        """The epoch of an agent's life in a clone."""
        path = self.folder / f"c{clone}/.git/ghp/agents/{agent}.json"
        epoch = (read_presence(str(path)) or {}).get("epoch")
        return epoch if isinstance(epoch, int) else 0

    def interlope(self) -> None:
        """Just before a write: somebody else gets in, if that is the plan."""
        if self.rivals:
            self.rivals.pop()()

    def wrote(self, before: Lock | None, after: Lock, clone: int, lived: bool, moved: bool) -> None:
        """A right was changed."""
        if after.name.startswith(names.AGENTS):
            lived = has_name(before, self.clones[clone].heard, self.beats, self.clock.now())
        how, by = self.acting[-1]
        epoch = 0 if by == PERSON else self.epoch(clone, by) or self._first_epoch(clone, by)
        self.taken_at[after.nonce] = self.clock.now()
        self.peaks[after.name] = max(after.generation, self.peaks.get(after.name, 0))
        self.writes.append(Write(before, after, by, epoch, clone, how, lived, moved))

    def _first_epoch(self, clone: int, agent: str) -> int:
        """The epoch that an agent gets in a clone in which it has not begun."""
        return next_epoch(self.clones[clone].store.snapshot().agents().get(agent, {}))

    def beaten(self, agent: str, clone: int, fields: Mapping[str, object]) -> None:
        """An agent said something in a clone."""
        epoch, seq = fields["epoch"], fields["seq"]
        assert isinstance(epoch, int)
        assert isinstance(seq, int)
        silent = fields.get("silentFor", 0)
        assert isinstance(silent, int)
        sign = Sign(self.clock.now(), seq, str(fields["status"]), silent)
        self.beats[Life(clone, agent, epoch)] = sign

    def sent(self, clone: int) -> None:
        """What a clone said is with the remote."""
        now, histories = self.clock.now(), self.clones[clone].hub.histories
        history = histories.get(CloneId(f"clone-{clone}"), ())
        agents = history[-1].agents if history else {}
        for life, sign in self.beats.items():
            before = self.reached.get(life)
            if life.clone == clone and (before is None or before.seq != sign.seq):
                silent = float(agents.get(life.agent, {}).get("silentFor", 0))
                self.reached[life] = sign._replace(at=now, silent=silent)

    def synced(self, clone: int) -> None:
        """What a clone said is with the remote, and what is there is with the clone."""
        now = self.clock.now()
        self.sent(clone)
        heard = self.clones[clone].heard
        self.clones[clone].heard = {
            life: heard[life] if life in heard and heard[life].seq == sign.seq else sign
            for life, sign in self.reached.items()
        }  # what was heard before is no new sign of life, also when a remote forgot it meanwhile
        self.clones[clone].heard_at = now

    # --------------------------------------------------------------------- what is true

    def holder_lives(self, lease: Lock | None, clone: int, limit: float = DEAD_AFTER) -> bool:
        """Whether the holder of a right lives, for all that can be known in a clone, or gave a sign
        of life within `limit`.

        Of several lives under one name the latest counts; of two that do not know of each other,
        both must live. Silence elsewhere is known up to the last news only. A report that a process
        runs keeps its agent alive, but it is no sign of life: it says how long the agent is silent.
        """
        if lease is None or lease.holder is None or lease.is_person:
            return lease is not None and lease.is_person
        here = self.clones[clone]
        news = here.heard_at or 0.0
        silent = [news - self.taken_at.get(lease.nonce, 0.0)]
        signs = self._signs(lease.holder, clone)
        is_of_here = lease.clone == f"clone-{clone}"
        if not signs and (is_of_here or not lease.clone):  # all that is known is in copied files
            signs = [(life, x) for life, x in here.copied.items() if life.agent == lease.holder]
            is_of_here = True
        if signs and signs[0][0].epoch >= lease.epoch:
            if self._has_ended(signs):
                return False
            # Of an agent of this clone its file tells. In a copy that is the file that was copied.
            of_here = [life.clone == clone or is_of_here for life, _ in signs]
            times = [self.clock.now() if is_here else news for is_here in of_here]
            pairs = [*zip(times, (sign for _, sign in signs), strict=True)]
            is_recent = limit < DEAD_AFTER
            since = max(
                time - sign.at + (sign.silent if is_recent else 0.0) for time, sign in pairs
            )
            # A right that was taken is a sign of life, too, unless more is known: of an agent of
            # this clone, and of one that began again by what it said since.
            is_newer = signs[0][0].epoch > lease.epoch or any(of_here)
            silent = [since] if is_newer else [*silent, since]
        return min(silent) < limit

    def lives(self, agent: str, clone: int) -> bool:
        """Whether an agent lives, for all that can be known in a clone."""
        signs = self._signs(agent, clone)
        if not signs or self._has_ended(signs):
            return False
        now, news = self.clock.now(), self.clones[clone].heard_at or 0.0
        since = max((now if life.clone == clone else news) - sign.at for life, sign in signs)
        return since < DEAD_AFTER

    def _has_ended(self, signs: Sequence[tuple[Life, Sign]]) -> bool:
        """Whether one of an agent's latest lives said that it stops, or was killed."""
        return any(life in self.killed or sign.status == "stopped" for life, sign in signs)

    def _signs(self, agent: str, clone: int) -> list[tuple[Life, Sign]]:
        mine = {life: sign for life, sign in self.beats.items() if life.clone == clone}
        others = self.clones[clone].heard.items()
        signs = mine | {life: sign for life, sign in others if life.clone != clone}
        lives = [(life, sign) for life, sign in signs.items() if life.agent == agent]
        last = max((life.epoch for life, _ in lives), default=0)
        return [(life, sign) for life, sign in lives if life.epoch == last]
