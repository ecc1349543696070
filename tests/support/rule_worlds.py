"""Worlds at random to decide edits in, and an oracle that knows nothing of rulebooks."""

import os
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ghp_agents.core import globs as pattern
from ghp_agents.core.clock import to_text
from ghp_agents.core.glob_paths import spelled_all
from ghp_agents.core.ids import Actor, Timestamp, digest
from ghp_agents.hotpath import heartbeat as pulse
from ghp_agents.hotpath import implicit_leases as touched
from ghp_agents.leases import record as lease_record
from ghp_agents.leases.record import LeaseEvent
from ghp_agents.ports import Snapshot
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from tests.support.claimants import Claimant
from tests.support.clock import ManualClock
from tests.support.consent import mine
from tests.support.git import commit, git

NOW = 1_790_000_000.0
HERE, ELSEWHERE = ("worker-1", "worker-2", "lead", "stopped", "dead"), ("far", "far-stopped")
LIVING = {"worker-1", "worker-2", "lead", "far", "unheard-of", "Ann Example"}
PATTERNS = (
    "src/", "src/a.py", "a.py", "*.py", "src/**/*.py", "docs/*", "docs/**", "*.lock", "!src/b.py",
    "!*.md", "lib/x?.py", "gen/", "LIB/", "build/", "*", "!docs/", "src/[ab].py", "new/",
)  # fmt: skip
EVERYTHING = "*"  # the one of them that covers all files: in a scope it says nothing
PATHS = (
    "src/a.py", "src/b.py", "src/deep/c.py", "docs/a.md", "docs/deep/b.md", "lib/x1.py",
    "LIB/X1.py", "gen/a.py", "build/a.o", "top.lock", "README.md",
    "new/never/seen.py", "odd/a\nb.py",
    "é/ü.py", "src/\udce9.py", "SRC/A.PY",
)  # fmt: skip
IGNORED = ("build/a.o",)
GENERATED = ("gen/a.py",)


@dataclass
class Holding:
    """A lease or the scope of a claim, as the oracle knows it."""

    holder: str
    patterns: tuple[str, ...]
    is_person: bool = False
    approved: bool = False
    is_over: bool = False


@dataclass
class World:
    """A clone with everything that can have a say."""

    one: Claimant
    fold: bool
    leases: list[Holding] = field(default_factory=list)
    scopes: list[Holding] = field(default_factory=list)
    shared: list[tuple[str, ...]] = field(default_factory=list)
    touches: dict[str, str] = field(default_factory=dict)
    fenced: set[str] = field(default_factory=set)
    owner: str | None = None

    def says(self, who: str, path: str, *, is_person: bool) -> tuple[str, str]:
        """What must be decided, as the requirement has it, without an index and without a file."""
        word, kind = self._says(who, path, is_person=is_person)
        return ("allow", kind) if is_person else (word, kind)

    def _says(self, who: str, path: str, *, is_person: bool) -> tuple[str, str]:
        exempt = path in (*IGNORED, *GENERATED)
        if not is_person and who in self.fenced:
            return "deny", "fenced"
        if not is_person and self.owner in LIVING - {who}:
            return "deny", "worktree"
        valid = [x for x in self.leases if not x.is_over and self._covers(x.patterns, path)]
        if not exempt and self._first_other(valid, who, is_person):
            return "deny", "lease"
        mine = [x for x in valid if (x.holder, x.is_person) == (who, is_person)]
        exempt = exempt or any(x.approved for x in mine)
        if not exempt and self.touches.get(self.key(path), who) in LIVING - {who}:
            return "deny", "implicit"
        if any(self._covers(patterns, path) for patterns in self.shared):
            free = any(x.approved for x in mine) or (who == "lead" and not is_person)
            return ("allow" if free else "needs-approval"), "shared"
        scopes = [x for x in self.scopes if self._covers(x.patterns, path)]
        is_both = any((x.holder, x.is_person) == (who, is_person) for x in scopes)
        if not exempt and not is_both and self._first_other(scopes, who, is_person):
            return "deny", "scope"
        return "allow", ""

    def key(self, path: str) -> str:
        return path.lower() if self.fold else path

    def edited(self, who: str, path: str) -> None:
        """`who` may edit: now it has an implicit lease, unless another who lives has it."""
        if self.touches.get(self.key(path), who) not in LIVING - {who}:
            self.touches[self.key(path)] = who

    def _covers(self, patterns: Sequence[str], path: str) -> bool:
        return pattern.covers(patterns, path, fold=self.fold)

    def _first_other(self, some: Sequence[Holding], who: str, is_person: bool) -> bool:
        for x in some:
            if (x.holder, x.is_person) == (who, is_person):
                return False
            if x.is_person or x.holder in LIVING:
                return True
        return False


def make(seed: int, clones: Sequence[Path]) -> World:
    """A world in the first of two clones; what is elsewhere is said in the second."""
    chance = random.Random(seed)
    clock = ManualClock(NOW)
    for path in clones:
        git(path, "config", "user.name", "Ann Example")
    here, other = (Claimant(path, "@me", clock) for path in clones)
    world = World(here, fold=chance.random() < 0.3)
    git(clones[0], "config", "core.ignoreCase", str(world.fold).lower())
    commit(clones[0], {".gitignore": "build/\n", ".gitattributes": "gen/** linguist-generated\n"})
    _agents(chance, here, other)
    _settings(chance, world, clones[0])
    _issues(chance, world, other)
    _leases(chance, world, here, other)
    _fences(chance, world)
    _touches(chance, world)
    world.owner = chance.choice([None, None, None, "worker-2", "dead"])
    if world.owner:
        (here.ws.git_dir / "ghp-agent").write_text(world.owner)
    here.store.fold()
    return world


def some(chance: random.Random, most: int = 3) -> tuple[str, ...]:
    """Patterns that name something."""
    words = chance.sample(PATTERNS, chance.randint(1, most))
    if all(word.startswith("!") for word in words):
        words = ["src/", *words]
    return spelled_all(words)


def _agents(chance: random.Random, here: Claimant, other: Claimant) -> None:
    for one, names in ((here, HERE), (other, ELSEWHERE)):
        for name in names:
            fields = {"status": "stopped" if "stopped" in name else "implementing"}
            pulse.beat(one.ws.folders, name, fields, NOW, epoch=1)
            age = 2_000.0 if name == "dead" else chance.choice([0.0, 700.0])
            path = f"{one.ws.folders[0]}/agents/{name}.json"
            os.utime(path, (NOW - age, NOW - age))
        one.store.fold()


def _settings(chance: random.Random, world: World, clone: Path) -> None:
    ours: dict[str, Any] = {"orchestrators": ["lead"]}
    if chance.random() < 0.5:
        ours["shared"] = list(some(chance))
        world.shared.append(tuple(ours["shared"]))
    if chance.random() < 0.4:
        ours["sharedOwners"] = ["@core"]
        (clone / "CODEOWNERS").write_text("/lib/ @core\n*.lock @core\nsrc/ @other\n")
        world.shared.append(("/lib/", "*.lock"))
    mine({"agents": ours})


def _issues(chance: random.Random, world: World, other: Claimant) -> None:
    """Issues with scopes, claimed by somebody, one after the other."""
    one = world.one
    for _ in range(chance.randint(0, 3)):
        patterns = some(chance, 2)
        body = "## Scope\n\n" + "\n".join(f"- `{x}`" for x in patterns)
        issue = one.new("Part of it", body=body)
        holder = chance.choice(["worker-1", "worker-2", "dead", "stopped", "unheard-of", "@me"])
        one.clock.wait(1)
        is_person = holder == "@me"
        name = "Ann Example" if is_person else holder
        one.locks.acquire(f"issue/{issue.number}", name, expected=None, epoch=0 if is_person else 1)
        counted = tuple(x for x in patterns if x != EVERYTHING)
        world.scopes.append(Holding(name, counted, is_person))


def _leases(chance: random.Random, world: World, here: Claimant, other: Claimant) -> None:
    for number in range(chance.randint(0, 2)):
        patterns = some(chance)
        holder = chance.choice(["worker-1", "worker-2", "dead"])
        here.clock.wait(1)
        name = f"path/{digest(*patterns, str(number))}"
        here.locks.acquire(name, holder, expected=None, epoch=1, patterns=patterns)
        world.leases.append(Holding(holder, patterns))
    other.sync()
    far = [_asked(chance, number, ["far", "far-stopped"]) for number in range(2)]
    far = far[: chance.randint(0, 2)]
    _say(other, far)
    other.sync()
    here.sync()
    holders = ["worker-1", "worker-2", "dead", "stopped", "lead", "unheard-of", "Ann Example"]
    near = [_asked(chance, number, holders) for number in range(10, 10 + chance.randint(0, 5))]
    _say(here, near)
    for x in [*far, *near]:
        is_over = x.until is not None  # of those elsewhere their own clone said so, too
        world.leases.append(
            Holding(
                x.holder.name, x.patterns, x.holder.is_person,
                bool(x.approved_by), is_over,
            )
        )  # fmt: skip


def _asked(chance: random.Random, number: int, holders: Sequence[str]) -> LeaseEvent:
    name = chance.choice(holders)
    holder = Actor(name, is_person=name == "Ann Example")
    identity = digest("lease", str(number), str(chance.random()), length=12)
    return LeaseEvent(
        lease=identity, id=identity, kind="request", clock=0, clone=None,  # type: ignore[arg-type]
        at=Timestamp(to_text(NOW)), by=holder, holder=holder, epoch=1, patterns=some(chance),
        until=chance.choice([None, None, Timestamp(to_text(NOW - 10))]),
        approved_by=chance.choice(["", "Ann Example"]), granted=True,
    )  # fmt: skip


def _say(one: Claimant, requests: Sequence[LeaseEvent]) -> None:
    def decide(snapshot: Snapshot) -> tuple[None, list[Record]]:
        events = [
            x._replace(clock=snapshot.clock + number, clone=snapshot.clone)
            for number, x in enumerate(requests, 1)
        ]
        return None, [lease_record.entry(x, x) for x in events]

    transact(one.store, decide)


def _fences(chance: random.Random, world: World) -> None:
    """An agent that works on an issue which another has claimed since."""
    if not world.scopes or chance.random() < 0.7:
        return
    holder = world.scopes[0].holder
    who = chance.choice(["worker-1", "worker-2"])
    fields = {"issue": 1, "generation": 1}
    pulse.beat(world.one.ws.folders, who, fields, NOW, throttle=0)
    os.utime(f"{world.one.ws.folders[0]}/agents/{who}.json", (NOW, NOW))
    if holder != who:
        world.fenced.add(who)


def _touches(chance: random.Random, world: World) -> None:
    for path in chance.sample(PATHS, 4):
        who = chance.choice(["worker-1", "worker-2", "dead", "stopped"])
        key = world.key(path)
        if key not in world.touches:
            ws = world.one.ws
            touched.take_lease(ws.folders, who, 1, key, ws.place.git_dir, NOW)
            world.touches[key] = who
