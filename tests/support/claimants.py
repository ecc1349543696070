"""Agents and people who claim issues, each in a clone, on real git."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ghp_agents.claims import service as claim
from ghp_agents.claims.service import ClaimResult, ReleasedClaim
from ghp_agents.core.ids import AgentName
from ghp_agents.issues import service as issues
from ghp_agents.issues.issue import Issue, IssueChange
from ghp_agents.issues.local import LocalTracker
from ghp_agents.locks.git import GitLocks
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import LockService
from ghp_agents.presence import service as presence
from ghp_agents.pulls.local import LocalForge
from ghp_agents.state.git.store import GitRefsStore
from ghp_agents.state.ledger import LedgerEntry
from ghp_agents.sync import service as sync
from ghp_agents.workspace import open_workspace
from tests.support.clock import ManualClock
from tests.support.context import Parts, make_context
from tests.support.git import git

Clones = Callable[[int], list[Path]]


class Claimant:
    """An agent in a clone, or (`@me`) the person there; the clock may be shared with others."""

    def __init__(
        self, folder: Path, name: str, clock: ManualClock, *, locks: LockService | None = None
    ) -> None:
        self.name = name
        self.clock = clock
        self.ws = open_workspace(folder, dict(os.environ), clock, name)
        self.store = GitRefsStore(self.ws)
        self.locks: LockService = locks or GitLocks(self.ws)
        self.tracker = LocalTracker(self.ws, self.store, self.locks)

    @property
    def parts(self) -> Parts:
        """The parts that services take, as they are now."""
        forge = LocalForge(self.ws, self.store, self.locks)
        return make_context(self.ws, self.store, self.locks, self.tracker, forge=forge)

    # ---------------------------------------------------------------------------- acting

    def claim(self, number: int, **how: Any) -> ClaimResult:
        with self._beating():
            return claim.claim(self.parts, str(number), **how)

    def claim_next(self) -> ClaimResult:
        with self._beating():
            return claim.claim_next(self.parts)

    def release(self, number: int, **how: Any) -> ReleasedClaim:
        with self._beating():
            return claim.release(self.parts, str(number), **how)

    def close(self, number: int, message: str = "") -> Issue:
        with self._beating():
            return claim.close(self.parts, str(number), message).issue

    def beat(self, **fields: Any) -> None:
        with self._beating():
            presence.heartbeat(self.ws, self.store, AgentName(self.name), fields)

    def sync(self) -> "Claimant":
        sync.sync(self.parts)
        return self

    def new(self, title: str, *, blocked_by: tuple[int, ...] = (), **fields: Any) -> Issue:
        change = IssueChange(title=title, **fields)
        blockers = [str(number) for number in blocked_by]
        return issues.new(self.parts, change, blocked_by=blockers).issue

    # --------------------------------------------------------------------------- looking

    @property
    def presence(self) -> dict[str, Any]:
        """What this machine knows of the agent."""
        return self.ws.presence(self.name) or {}

    @property
    def in_hand(self) -> tuple[Any, ...]:
        """The issue, the generation of its claim, and the status."""
        fields = self.presence
        return fields.get("issue"), fields.get("generation"), fields.get("status")

    def assignees(self, number: int) -> tuple[str, ...]:
        return self.tracker.get(number).assignees

    def story(self, number: int) -> list[tuple[str, str, int | None, str]]:
        """What the ledger says of the claims of an issue: event, actor, generation, text."""
        events = ("claim", "takeover", "steal", "release")
        return [
            (entry.event, entry.actor, entry.generation, entry.text)
            for entry in self._ledger()
            if entry.issue == number and entry.event in events
        ]

    def _ledger(self) -> list[LedgerEntry]:
        return self.store.ledger()

    # -------------------------------------------------------------------------- the clock

    def _beating(self) -> "_Beats":
        return _Beats(self)


class _Beats:
    """Presence files are as old as their beats are by the clock of the test."""

    def __init__(self, one: Claimant) -> None:
        self._one = one
        self._before = dict(self._ages())

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        now = self._one.clock.now()
        for path, content in self._ages():
            if self._before.get(path) != content:
                os.utime(path, (now, now))

    def _ages(self) -> Iterator[tuple[Path, bytes]]:
        for path in (self._one.ws.ghp_dir / "agents").glob("*.json"):
            yield path, path.read_bytes()


DEAD, GONE = 2_000.0, 90_000.0  # seconds of silence
THEN = "2025-06-15T15:06:40Z"


class Team:
    """Clones around a remote, with agents and people in them, on one clock."""

    def __init__(
        self, clones: Clones, remote: Path, folders: Mapping[str, Path] = MappingProxyType({})
    ) -> None:
        self.clock = ManualClock()
        self.remote = remote
        self._clones = clones
        self._folders = dict(folders)

    def join(self, name: str, clone: str | None = None) -> Claimant:
        """Somebody in a clone of their own, or in that of another."""
        key = clone or name
        if key not in self._folders:
            (self._folders[key],) = self._clones(1)
            git(self._folders[key], "config", "user.name", name if name != "@me" else "Ann Example")
        return Claimant(self._folders[key], name, self.clock)

    def person(self, clone: str) -> Claimant:
        """The person of that clone."""
        person = self.join("@me", clone)
        git(self._folders[clone], "config", "user.name", "Ann Example")
        return person

    def cut(self) -> None:
        self.remote.rename(self.remote.with_suffix(".away"))

    def mend(self) -> None:
        self.remote.with_suffix(".away").rename(self.remote)

    def silence(self, seconds: float, *living: Claimant, steps: int = 2) -> None:
        """Time passes in which only the living beat, and all that beat or listen sync."""
        for _ in range(steps):
            self.clock.wait(seconds / steps)
            for one in living:
                one.beat(lastAction=f"At {self.clock.now()}")
                one.sync()


def known(one: Claimant, number: int = 1) -> Lock | None:
    """What the clone knows of the right to an issue."""
    locks = [x for x in one.locks.known("issue/") if x.name == f"issue/{number}"]
    return locks[0] if locks else None
