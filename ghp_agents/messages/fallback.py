"""Who does a request if its recipients do not begin: the other agent that its sender named."""

from collections.abc import Collection, Sequence

from ghp_agents.messages import address
from ghp_agents.messages import message as rules
from ghp_agents.messages.address import Roles
from ghp_agents.messages.message import NEW, Letter
from ghp_agents.ports import Context, Snapshot


def inbox(
    ctx: Context, snapshot: Snapshot, letters: Sequence[Letter], roles: Roles,
    at: float | None = None,
) -> list[Letter]:  # fmt: skip
    """The letters to an agent, and those that it gets because others have not begun, oldest first.
    `at` is the time of a past snapshot."""
    mail = rules.inbox(letters, roles)
    spare = [x for x in letters if x.message.or_agent == roles.name and x not in mail]
    if not spare:
        return mail
    ids = {letter.message.id for letter in (*mail, *_due(ctx, snapshot, spare, roles.name, at))}
    return [letter for letter in letters if letter.message.id in ids]


def _due(
    ctx: Context, snapshot: Snapshot, spare: Sequence[Letter], agent: str, at: float | None
) -> list[Letter]:
    from ghp_agents.presence import service as presence  # most inboxes do not need it

    now = ctx.ws.clock.now() if at is None else at
    if at is not None:
        views = presence.look_back(ctx.ws, snapshot, at)
    else:
        views = presence.list_agents(ctx, snapshot) if any(x.state == NEW for x in spare) else []
    living = {view.name for view in views if view.liveness in presence.LIVING}
    return [letter for letter in spare if is_due(letter, agent, living, now)]


def is_due(letter: Letter, agent: str, living: Collection[str], now: float) -> bool:
    """Whether it is for the other agent: it has claimed it, or nobody has, and nobody began in time
    or the recipients are unknown, dead or stopped. A group can have members at any time."""
    if letter.state != NEW:
        return letter.holder == agent
    is_absent = not any(address.is_group(name) or name in living for name in letter.message.to)
    return is_absent or bool(letter.is_late(now))
