"""The claim of a message to a group: one agent has it, by a lock over all clones."""

from collections.abc import Mapping, Sequence

from ghp_agents.claims import claim as rules
from ghp_agents.core.errors import RefusedError, UnknownError
from ghp_agents.core.ids import Actor, AgentName
from ghp_agents.locks.lock import Lock, LockMovedError
from ghp_agents.locks.names import INBOX
from ghp_agents.messages.message import CLAIMED, Letter
from ghp_agents.ports import Context

ATTEMPTS = 5  # each lost race shows who has it, so a second look nearly always decides


def lock_name(letter: Letter) -> str:
    """The name of the lock."""
    return f"{INBOX}{letter.message.id}"


def believed(ctx: Context, letters: Sequence[Letter]) -> list[Letter]:
    """The letters with only those replies that their locks confirm: of the holder, under its claim.
    The claim of a dead or stopped agent does not count, so another agent can take it."""
    if not any(letter.message.is_shared and letter.replies for letter in letters):
        return list(letters)
    locks = {lock.name: lock for lock in ctx.locks.known(INBOX)}
    confirmed = [
        _confirmed(letter, locks) if letter.message.is_shared else letter for letter in letters
    ]
    from ghp_agents.claims import holder_liveness

    claimed = [locks[lock_name(x)] for x in confirmed if x.message.is_shared and x.state == CLAIMED]
    sights = holder_liveness.holders_of(ctx, claimed) if claimed else {}
    lapsed = {name for name, sight in sights.items() if not sight.lives}
    return [x._replace(replies=()) if lock_name(x) in lapsed else x for x in confirmed]


def _confirmed(letter: Letter, locks: Mapping[str, Lock]) -> Letter:
    lock = locks.get(lock_name(letter))
    by = Actor(lock.holder or "") if lock else None
    replies = [x for x in letter.replies if lock and x.claim == lock.generation and x.by == by]
    return letter._replace(replies=tuple(replies))


def take(ctx: Context, letter: Letter, agent: AgentName) -> int:
    """Claim a message for an agent; returns the generation of its claim.

    The claim of a dead agent lapses. After the completion the claim stays, for other clones may
    not have heard of it. Raises RefusedError if a living agent has it, UnknownError.
    """
    from ghp_agents.presence import beginning
    from ghp_agents.presence import service as presence

    epoch = presence.epoch_of(ctx, agent)
    lock = ctx.locks.read(lock_name(letter))
    for _ in range(ATTEMPTS):
        lives = bool(lock and lock.holder) and _lives(ctx, lock)
        stands = rules.standing(lock, agent, epoch, ctx.locks.clone, lives=lives)
        if lock and stands in ("held", "disputed"):
            raise RefusedError(
                f"{lock.holder} has claimed {letter.message.name} and is at work on it.",
                hint="Choose another message: `ghp agent-inbox`.",
            )
        beginning.begin(ctx.ws, ctx.store, agent)
        if lock and stands == "mine":
            return lock.generation
        epoch = presence.epoch_of(ctx, agent)
        try:
            taken = ctx.locks.acquire(lock_name(letter), agent, expected=lock, epoch=epoch)
        except LockMovedError as moved:
            lock = moved.current
            continue
        return taken.generation
    raise UnknownError(
        f"{letter.message.name} changed hands {ATTEMPTS} times meanwhile.", hint="Try again."
    )


def _lives(ctx: Context, lock: Lock | None) -> bool:
    from ghp_agents.claims import holder_liveness

    return lock is not None and holder_liveness.holders_of(ctx, [lock])[lock.name].lives
