"""Strict leases: rights over all clones to paths, which overlap as the names of rights do not.

One compare-and-swap decides who has one right, but two rights may be to one file. So a claimant
writes first and looks then: of two that see each other at least one gives way, and who has seen
nobody after writing has it alone. The lower nonce stays longer, so that not both give way for ever.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from ghp_agents.claims import holder_liveness
from ghp_agents.claims.claim import is_mine
from ghp_agents.claims.holder_liveness import HolderView
from ghp_agents.core.errors import RefusedError, UnknownError
from ghp_agents.core.ids import Actor, Timestamp, digest
from ghp_agents.hotpath.quoting import named, when
from ghp_agents.leases import second_look
from ghp_agents.leases.coverage import Coverage
from ghp_agents.leases.hold import Hold
from ghp_agents.leases.service import NAMES, PATHS, as_hold
from ghp_agents.locks.lock import Lock, LockMovedError
from ghp_agents.ports import LockService, StateStore
from ghp_agents.workspace import Workspace

ATTEMPTS = 20  # each after the first because the right changed meanwhile
LOOKS = 5  # at rivals who ought to give way
PAUSE = 0.3  # seconds between two looks


class Asker(NamedTuple):
    """Who wants a right, and for how long at most."""

    actor: Actor
    epoch: int
    clone: str
    until: Timestamp | None = None


class RivalError(RefusedError):
    """Another has a right to some of it."""

    kind = "held"  # of the obstacle

    def __init__(self, hold: Hold) -> None:
        self.hold = hold
        super().__init__(
            f"{named(hold.holder, hold.is_person)} has it for all clones since {when(hold.since)}.",
            hint="Work on something else, or wait for it with --wait.",
        )


class DoubtError(RivalError):
    """Its holder looks dead, and a second look must confirm that."""

    kind = "doubted"


def right_name(patterns: Sequence[str], name: str | None) -> str:
    """What the right to patterns, or to a resource, is called."""
    return f"{NAMES}{name}" if name is not None else f"{PATHS}{digest(*patterns)}"


def take_lock(
    ws: Workspace,
    store: StateStore,
    leaser: LockService,
    who: Asker,
    reach: Coverage,
    reason: str = "",
    past: Container[str] = (),
) -> Lock:
    """The right to all that `reach` names, which nobody else has; those with a nonce in `past`
    had it for a time that is up. Raises RivalError, UnknownError; then it is given back, or was
    never taken."""
    name = right_name(reach.patterns, reach.name)
    known = {right.name: right for right in leaser.list(PATHS if reach.name is None else name)}
    _refuse(_met(ws, store, known.values(), who, reach, past)[0])
    got = _swap(ws, store, leaser, name, who, reach, reason, known.get(name), past)
    return got if reach.name is not None else _alone(ws, store, leaser, got, who, reach, past)


def _swap(
    ws: Workspace,
    store: StateStore,
    leaser: LockService,
    name: str,
    who: Asker,
    reach: Coverage,
    reason: str,
    current: Lock | None,
    past: Container[str],
) -> Lock:
    for _ in range(ATTEMPTS):
        mine = current and is_mine(current, who.actor.name, who.epoch, who.clone)
        if current and mine and current.until == who.until:
            return current  # ours already: a process before this one was killed half-way
        _refuse(_met(ws, store, [current] if current else [], who, reach, past)[0])
        try:
            return leaser.acquire(
                name, who.actor.name, expected=current, epoch=who.epoch, reason=reason,
                patterns=reach.patterns, clone=who.clone, until=who.until,
            )  # fmt: skip
        except LockMovedError as moved:
            current = moved.current
    raise UnknownError(
        f"{name} changed again and again while it was being taken.", hint="Try again."
    )


def _alone(
    ws: Workspace,
    store: StateStore,
    leaser: LockService,
    got: Lock,
    who: Asker,
    reach: Coverage,
    past: Container[str],
) -> Lock:
    """The right, once nobody else is seen who has one to the same."""
    for _ in range(LOOKS):
        others = [right for right in leaser.list(PATHS) if right.name != got.name]
        try:
            rivals, lapsed = _met(ws, store, others, who, reach, past)
        except DoubtError:
            give_back(leaser, got, "another holder is not dead for certain")
            raise
        if not rivals:
            for right in lapsed:  # its holder must not find it held, should it come back
                give_back(leaser, right, f"lapsed: {got.holder} has taken it")
            return got
        if any(right.nonce < got.nonce for right in rivals):
            break
        ws.clock.wait(PAUSE)
    give_back(leaser, got, "another came at the same time")
    raise RivalError(as_hold(rivals[0]))


def give_back(leaser: LockService, right: Lock, reason: str) -> None:
    """Give a right back that nobody else has taken meanwhile."""
    try:
        leaser.release(right.name, expected=right, reason=reason)
    except LockMovedError:
        return


def _met(
    ws: Workspace,
    store: StateStore,
    rights: Iterable[Lock],
    who: Asker,
    reach: Coverage,
    past: Container[str],
) -> tuple[list[Lock], list[Lock]]:
    """The rights of others that have something in common with `reach`: of those who live and still
    have them, and of the others."""
    met = [
        right
        for right in rights
        if right.is_taken and reach.meets_other(as_hold(right), who.actor, who.clone)
    ]
    seen = holder_liveness.holders_of(ws, store, met) if met else {}
    living = [right for right in met if _lives(seen, right) and right.nonce not in past]
    doubted = {x.name: (x, seen[x.name]) for x in met if x.name in seen and x.nonce not in past}
    unsure = second_look.unconfirmed(ws, store, doubted) if doubted else []
    if unsure and not living:
        raise DoubtError(as_hold(unsure[0]))
    return living, [right for right in met if right not in living]


def _lives(seen: Mapping[str, HolderView], right: Lock) -> bool:
    """Whether a right counts; one in dispute does."""
    return right.is_disputed or seen[right.name].lives


def _refuse(rivals: Sequence[Lock]) -> None:
    if rivals:
        raise RivalError(as_hold(rivals[0]))
