"""The claim of a message to a group: one agent has it, by a lock over all clones."""

from collections.abc import Mapping, Sequence

from ghp_agents.claims import claim as rules
from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import Actor, AgentName
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import INBOX
from ghp_agents.locks.swap import LockView, current_view, swap
from ghp_agents.messages.message import CLAIMED, Letter
from ghp_agents.ports import Context


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

    def decide(seen: LockView) -> int:
        lock = seen.lock
        lives = bool(lock and lock.holder) and _lives(ctx, lock)
        epoch = presence.epoch_of(ctx, agent)
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
        return ctx.locks.acquire(seen.name, agent, expected=lock, epoch=epoch).generation

    return swap(current_view(ctx.locks, lock_name(letter)), decide)


def _lives(ctx: Context, lock: Lock | None) -> bool:
    from ghp_agents.claims import holder_liveness

    return lock is not None and holder_liveness.holders_of(ctx, [lock])[lock.name].lives
