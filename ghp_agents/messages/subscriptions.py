"""Which topics agents listen to: change and look up subscriptions."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ghp_agents.core.clock import to_text
from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import AgentName, Timestamp, digest
from ghp_agents.messages.address import Roles
from ghp_agents.messages.channels import channel_list
from ghp_agents.messages.topics.subscription import (
    FOLDER,
    MOST,
    Subscription,
    encode,
    read_subscriptions,
)
from ghp_agents.messages.topics.topic import REST, checked_pattern
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import capabilities
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import Workspace

Change = Callable[[tuple[str, ...], tuple[str, ...]], tuple[Sequence[str], Sequence[str]]]


class Subscribed(NamedTuple):
    """What an agent listens to now."""

    listens: tuple[str, ...]
    ignores: tuple[str, ...]
    is_default: bool  # it never subscribed: the setting `topics` decides
    is_new: bool = False
    asks: bool = True  # about new topics

    @property
    def is_isolated(self) -> bool:
        """Whether only messages that name the agent reach it."""
        return REST in self.ignores


def roles_of_all(ws: Workspace, snapshot: Snapshot, agents: Iterable[str]) -> list[Roles]:
    """The groups to which agents belong."""
    subscriptions, _ = read_subscriptions(snapshot.present(FOLDER))
    settings, names, known_agents = ws.settings, [*agents], snapshot.agents()
    new = (REST,) if settings.new_topics == "hear" else ()
    channels = channel_list.heard(ws, names)
    return [
        Roles(
            name,
            is_orchestrator=name in settings.orchestrators,
            capabilities=capabilities.of(ws, name, known_agents.get(name)),
            listens=(subscriptions[name].listens if name in subscriptions else _topics(ws, name))
            + channels[name]
            + new,
            ignores=subscriptions[name].ignores if name in subscriptions else (),
        )
        for name in names
    ]


def _topics(ws: Workspace, agent: str) -> tuple[str, ...]:
    """The topics of an agent that has never subscribed: its card's, else the setting's."""
    card = ws.settings.card(agent)
    return card.subscriptions if card and card.subscriptions else ws.settings.topics


def of(ctx: Context, agent: AgentName) -> Subscribed:
    """What an agent listens to."""
    return _of(ctx, ctx.store.snapshot(), agent)


def _of(ctx: Context, snapshot: Snapshot, agent: AgentName) -> Subscribed:
    subscriptions, _ = read_subscriptions(snapshot.present(f"{FOLDER}{agent}/"))
    entry = subscriptions.get(agent)
    if entry is None:
        return Subscribed(_topics(ctx.ws, agent), (), is_default=True)
    return Subscribed(entry.listens, entry.ignores, is_default=False, asks=entry.asks)


def subscribe(
    ctx: Context, listens: Sequence[str], ignores: Sequence[str], removes: Sequence[str],
    *, asks: bool | None = None,
) -> Subscribed:  # fmt: skip
    """Add patterns to what the agent listens to or ignores, and remove others from both. `asks`:
    whether a person is asked about new topics; None leaves it as it is.

    Raises UsageError.
    """
    more, fewer = [checked_pattern(x) for x in listens], [checked_pattern(x) for x in ignores]

    def change(heard: tuple[str, ...], ignored: tuple[str, ...]) -> tuple[list[str], list[str]]:
        gone = {*removes}
        left = [x for x in (*heard, *more) if x not in gone and x not in fewer]
        gone |= {*more, *([REST] if more else ())}  # who subscribes is isolated no more
        ignoring = [x for x in (*ignored, *fewer) if x not in gone]
        return left, ignoring

    return _change(ctx, change, asks)


def isolate(ctx: Context) -> Subscribed:
    """Let only messages reach the agent that name it."""
    return _change(ctx, lambda _, __: ([], [REST]))


def _change(ctx: Context, change: Change, asks: bool | None = None) -> Subscribed:
    agent, by = ctx.ws.agent(), ctx.ws.actor()

    def decide(snapshot: Snapshot) -> tuple[Subscribed, list[Record]]:
        before = _of(ctx, snapshot, agent)
        listens, ignores = (tuple(dict.fromkeys(patterns)) for patterns in change(*before[:2]))
        if len(listens) + len(ignores) > MOST:
            raise UsageError(
                f"An agent has at most {MOST} patterns.", hint="Use a wildcard: code.>"
            )
        asking = before.asks if asks is None else asks
        if not before.is_default and (listens, ignores, asking) == (*before[:2], before.asks):
            return before, []
        at, clock = Timestamp(to_text(ctx.ws.clock.now())), snapshot.clock + 1
        identity = digest(agent, str(clock), snapshot.clone, *listens, "", *ignores)
        entry = Subscription(
            identity, agent, listens, ignores, by, at, clock, snapshot.clone, asking
        )
        after = Subscribed(listens, ignores, is_default=False, is_new=True, asks=asking)
        return after, [encode(entry)]

    return transact(ctx.store, decide)
