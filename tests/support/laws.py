"""The laws of authority, asked for after every step of a simulated world."""

import re
from collections.abc import Iterable

from ghp_agents.claims.claim import is_mine
from ghp_agents.core.errors import GhpError
from ghp_agents.core.globs import covers
from ghp_agents.hotpath import implicit_leases as touched
from ghp_agents.hotpath.implicit_leases import ImplicitLease
from ghp_agents.leases import strict
from ghp_agents.leases.hold import Hold
from ghp_agents.leases.record import LeaseHistory
from ghp_agents.leases.world import as_hold, read_all
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import AGENTS
from ghp_agents.state import codec
from tests.support.world import ORCHESTRATOR, PERSON, World
from tests.support.world_files import PATHS
from tests.support.world_records import Session, Write

_CLAIMED = re.compile(r"#\d+ is claimed by «?([^\s»]+)")
_ASSIGNED = re.compile(r"#\d+ is assigned to ([^.]+)\.")


class ViolationError(AssertionError):
    """A law does not hold."""


def require(holds: bool, law: str, *facts: object) -> None:
    """Raises ViolationError."""
    if not holds:
        raise ViolationError(" | ".join([law, *map(repr, facts)]))


# ---------------------------------------------------------------------------- of rights


def check_writes(writes: Iterable[Write]) -> None:
    """Each change of a right may follow the one before."""
    for write in writes:
        _check_generation(write)
        before, after = write.before, write.after
        if before is None or before.holder is None:
            continue
        if after.holder is not None and write.how != "release":
            _check_taking(write, before)
        else:
            _check_giving(write, before)


def _check_generation(write: Write) -> None:
    before = write.before.generation if write.before else 0
    settles = write.before is not None and write.before.is_disputed
    grows = 1 if write.after.holder is not None or settles else 0
    law = "each taking raises the generation by one, and nothing else does"
    require(write.after.generation == before + grows, law, write)


def _check_taking(write: Write, before: Lock) -> None:
    if write.how == "steal":
        _check_stealing(write, before)
        return
    require(not before.is_person, "a person's claim never lapses", write)
    if before.name.startswith(AGENTS) and write.by == before.holder:
        law = "no other clone takes the name of an agent that is known to be at work"
        require(write.after.clone == before.clone or not write.holder_lived, law, write)
        return
    require(not write.holder_lived, "nothing is taken from the living without --steal", write)


def _check_stealing(write: Write, before: Lock) -> None:
    if _decides(write):
        return
    require(not before.is_person, "no agent steals from a person", write)
    may = write.by == before.holder or not write.holder_moved
    require(may, "no agent steals from another that was heard of", write)


def _decides(write: Write) -> bool:
    """Whether a person or an orchestrator acted."""
    return write.by in (PERSON, ORCHESTRATOR)


def _check_giving(write: Write, before: Lock) -> None:
    may = _decides(write) or not write.holder_lived
    # A lease is its holder's by name; of a claim the epoch tells which of its lives has it.
    of_claim = before.name.startswith("issue/")
    epoch = write.epoch if of_claim else max(write.epoch, before.epoch)
    may = may or is_mine(before, write.by, epoch, f"clone-{write.clone}")
    require(
        may, "only its holder gives a right back, or who directs, or whoever finds it dead", write
    )


def check_history(history: Iterable[Lock]) -> None:
    """A generation has one holder, for ever."""
    holders: dict[int, tuple[str, int]] = {}
    last = 0
    for lease in history:
        require(lease.generation >= last, "a generation never falls", lease)
        last = lease.generation
        if lease.holder is not None:
            first = holders.setdefault(last, (lease.holder, lease.epoch))
            require(
                first == (lease.holder, lease.epoch), "a generation has one holder", first, lease
            )


# ----------------------------------------------------------------------------- of answers


def check_claimed(world: World, lease: Lock) -> None:
    """What was acknowledged is so, where it is decided."""
    history = world.board.histories.get(lease.name, [])
    same = [x for x in history if x.holder and x.generation == lease.generation]
    named = [(x.holder, x.epoch) for x in same]
    law = "who was told that they hold a right is its holder of that generation"
    require(named == [(lease.holder, lease.epoch)], law, lease, same)


def check_refused(error: GhpError, holders: set[str], assigned: set[str]) -> None:
    """Who loses is told who won."""
    text = str(error)
    winner, others = _CLAIMED.search(text), _ASSIGNED.search(text)
    if winner:
        require(winner[1] in holders, "the winner is named truthfully", text, sorted(holders))
    elif others:
        named = {name.removesuffix(" (a person)").strip("«»") for name in others[1].split(", ")}
        require(named <= assigned, "who is assigned is named truthfully", text, sorted(assigned))
    else:
        why = text.endswith(("is closed.", "Two agents cannot have one name."))
        why = why or " cannot be claimed now." in text
        require(why, "a refusal says why", text)


def check_guarded(command: str, session: Session, epoch: int, locks: Iterable[Lock | None]) -> None:
    """A guarded command that succeeded was the holder's, at some moment while it ran."""
    mine = any(
        lease and is_mine(lease, session.agent, epoch, f"clone-{session.clone}") for lease in locks
    )
    require(mine, f"a fenced holder never succeeds in `{command}`", session, epoch)


# ---------------------------------------------------------------------------- of leases


def _things(hold: Hold) -> set[str]:
    """What a lease is of: files, and resources by their names."""
    covered = {path for path in PATHS if hold.patterns and covers(hold.patterns, path, fold=False)}
    return covered | ({f"name {hold.name}"} if hold.name else set())


def _held(world: World, clone: int, acting: str = "") -> list[LeaseHistory]:
    """What a clone knows to be granted, and given back by nobody, to those who live; who acts
    does."""
    snapshot, now = world.clones[clone].store.snapshot(), world.clones[clone].clock.now()
    rights = world.board.leases
    return [
        log
        for log in read_all(snapshot)[0]
        if log.is_open
        and log.granted
        and not log.is_over(snapshot.clone, now)
        and (not (right := rights.get(log.request.right)) or right.nonce == log.nonce)
        and (log.holder.name == acting or world.lives(log.holder.name, clone))
    ]


def _held_here(world: World, clone: int) -> list[LeaseHistory]:
    """Of these, what this clone has granted."""
    return [log for log in _held(world, clone) if log.request.clone == f"clone-{clone}"]


def check_holds(world: World, clone: int) -> None:
    """No two who live have one thing from one clone."""
    holders: dict[str, Hold] = {}
    for hold in (log.hold() for log in _held_here(world, clone)):
        for thing in _things(hold):
            other = holders.setdefault(thing, hold)
            require(
                other.holder == hold.holder, "one holder of a path in a clone", clone, other, hold
            )


def check_strict(world: World, session: Session, mine: Hold) -> None:
    """No two who live have one thing over all clones."""
    for hold in world.strict:
        if hold.holder == mine.holder or not _things(hold) & _things(mine):
            continue
        right = world.board.leases.get(strict.lock_name(hold.patterns, hold.name))
        if right is None:
            continue  # the remote lost it
        still = (right.holder, right.acquired_at) == (hold.holder, hold.since)
        lives = world.holder_lives(right, session.clone)
        require(not (still and lives), "one holder of a strict lease", hold, mine, right)


def rivals(world: World, session: Session, path: str) -> set[str]:
    """Who lives in a clone and has `path`, other than who acts, unless that one came first."""

    def order(log: LeaseHistory) -> tuple[bool, object]:
        return not log.request.right, codec.order(log.request)

    held = _held(world, session.clone, session.agent)
    logs = [log for log in held if path in _things(log.hold())]
    mine = min((order(log) for log in logs if log.holder.name == session.agent), default=None)
    here = [log for log in _held_here(world, session.clone) if log in logs]
    others = [log for log in here if log.holder.name != session.agent]
    rights = world.clones[session.clone].locks.known("path/")
    if any(x.holder == session.agent and path in _things(as_hold(x)) for x in rights):
        return set()  # what holds over all clones comes before what was granted in one
    names = {log.holder.name for log in others if mine is None or order(log) < mine}
    ws = world.workspace(session.clone, session.agent, session.token)
    touch = touched.find(ws.folders, path, ws.place.git_dir)
    if touch and touch.agent != session.agent and mine is None:
        alive = world.lives(touch.agent, session.clone)
        same = world.epoch(session.clone, touch.agent) == touch.epoch
        names |= {touch.agent} if alive and same else set()
    return names


def check_edit(world: World, session: Session, path: str, mine: ImplicitLease | None) -> None:
    """Who edits has an implicit lease, or an approved one: that outranks another's edit."""
    held = _held(world, session.clone, session.agent)
    holds = [log.hold() for log in held if log.holder.name == session.agent]
    is_mine = mine is not None and mine.agent == session.agent
    is_approved = any(hold.approved and path in _things(hold) for hold in holds)
    require(is_mine or is_approved, "who edits has a lease of it", path, mine)


# --------------------------------------------------------------------------------- of all


def check_end(world: World) -> None:
    """All can be reached again and have synced: they agree, and nothing acknowledged is lost."""
    ids = [{entry.id for entry in clone.store.ledger()} for clone in world.clones.values()]
    for number, record in world.committed:
        for numbers in ids:
            require(record in numbers, "what a clone recorded is known to all", number, record)
    held = {
        lease.name: (lease.holder, lease.generation)
        for lease in world.board.leases.values()
        if lease.holder is not None
    }
    for clone in world.clones.values():
        locks = clone.locks.known("issue/")
        known_here = {x.name: (x.holder, x.generation) for x in locks if x.holder}
        ours = {name: holder for name, holder in held.items() if name.startswith("issue/")}
        require(known_here == ours, "all know who holds what", clone.number, known_here, ours)
    agents = [clone.store.snapshot().agents() for clone in world.clones.values()]
    require(all(agent == agents[0] for agent in agents), "all know the same agents", agents)


def named(lease: Lock | None) -> set[str]:
    """Who holds a right, as people see it."""
    return {lease.holder} if lease and lease.holder else set()
