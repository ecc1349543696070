"""Notifications for an agent: answers, returned pull requests, orders, and lost claims."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from ghp_agents.claims import ended_agents, next_issue
from ghp_agents.claims.claim import fence_of
from ghp_agents.conflicts import stale_base
from ghp_agents.core.ids import Actor, AgentName
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.delivered import is_told, mark_told
from ghp_agents.escalations.messages import ANSWERED, News
from ghp_agents.github.commands import notices
from ghp_agents.handoffs import returned
from ghp_agents.handoffs.returned import FOLDER, Return
from ghp_agents.hotpath import news_flag
from ghp_agents.hotpath.lost_claim import LostClaim
from ghp_agents.hotpath.quoting import clean, file, phrase
from ghp_agents.messages import service as messages
from ghp_agents.messages import undelivered
from ghp_agents.messages.news import key_of, wakes
from ghp_agents.parts.call import call
from ghp_agents.parts.lists import NEWS
from ghp_agents.parts.plugin import attempt, load
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.presence import stopping
from ghp_agents.pulls.merging import send_back
from ghp_agents.state import refusal
from ghp_agents.sync import others_news, unblock, wake
from ghp_agents.workspace import Workspace
from ghp_agents.world import World

ISSUES = "issue/"
ANSWERS = ".ghp/answers/"
ANSWER_LIMIT = 4_000  # characters of one answer; a command is named that shows the rest
REACTED = ("review/", stale_base.KEY, ended_agents.KEY)  # a review, a conflict, a lost agent
MORE = "There is more: run `ghp agent-status`."


class Notifications(NamedTuple):
    """The text to print, and the ids of the items in it, for `mark`."""

    text: str
    ids: tuple[str, ...] = ()


def gather(
    ctx: Context,
    agent: AgentName,
    *,
    again: bool = False,
    limit: int = 10_000,
    is_resumed: bool = False,
) -> Notifications:
    """The undelivered items for `agent`, in at most `limit` characters; the rest stays undelivered.

    A lost claim is reported once; with `again`, as long as it lasts. With `is_resumed`, a resume
    follows, which has the answers and the pull requests that were sent back.
    """
    snapshot = ctx.store.snapshot()
    items = [*(_of_stop(ctx, snapshot, agent, again) or _of_fence(ctx, agent, again))]
    items += _wanted(ctx, snapshot, agent, again)
    items += _once(ctx, snapshot, agent)
    items += undelivered.texts(ctx, snapshot, agent)
    items += others_news.gather(ctx, snapshot, agent)
    if not is_resumed:
        keys = {name for _, name in items}
        items += [
            ("" if is_covered(ctx.ws, agent, news, keys) else _answer(news), news.id)
            for news in _answers(ctx, snapshot, agent)
        ]
        returns = _returns(ctx.ws, snapshot, agent)
        items += [(_returned(*pair), _return_id(pair[0])) for pair in returns]
    room = limit - len(MORE) - 1
    kept: list[tuple[str, str]] = []
    for text, name in items:
        room -= _units(text) + bool(text)  # ids that a notice covers follow it with no text
        if room < 0:
            break
        kept.append((text, name))
    lines = [text for text, _ in kept if text] + ([MORE] if len(kept) < len(items) else [])
    return Notifications("\n".join(lines), tuple(name for _, name in kept))


class Reader(NamedTuple):
    """Who reads: a source of news takes of it what its parameters name."""

    ctx: Context
    snapshot: Snapshot
    agent: AgentName

    @property
    def ws(self) -> Workspace:
        """The repository, and who works in it."""
        return self.ctx.ws

    @property
    def folders(self) -> Sequence[str]:
        """Where this clone's own files are."""
        return self.ctx.ws.folders


def _once(ctx: Context, snapshot: Snapshot, agent: AgentName) -> list[tuple[str, str]]:
    """What the agent has not heard of yet, from all sources: texts, and keys of their delivery."""
    reader = Reader(ctx, snapshot, agent)
    items = [item for name in NEWS for item in call(name, reader)]
    for plugin in load(ctx.ws.settings.plugins).plugins.values():
        for source in plugin.sources:
            items += attempt(source, reader)[0] or ()
    return [item for item in items if not is_told(ctx.ws, agent, item[1])]


def refused(ctx: Context, agent: AgentName) -> list[tuple[str, str]]:
    """The agent's records that the remote refused."""
    items: list[tuple[str, str]] = []
    for kept in ctx.store.set_aside():
        record = kept.record
        if record.actor == Actor(agent):
            what = f"{file(record.event)} {file(record.object)}"
            words, advice = phrase(kept.words, 300), refusal.of_record(kept.words)
            text = (
                f"The remote refused your {what}, so other clones do not have it. It says: {words} "
                f"Its id is {kept.id}. {advice}"
            )
            items.append((clean(text), f"refused/{kept.id}"))
    return items


def _of_fence(ctx: Context, agent: AgentName, again: bool) -> list[tuple[str, str]]:
    fence = _fence(ctx, agent)
    if fence is None or (not again and is_told(ctx.ws, agent, _fence_id(fence))):
        return []
    return [(clean(f"{fence.words} {fence.hint}"), _fence_id(fence))]


def _of_stop(
    ctx: Context, snapshot: Snapshot, agent: AgentName, again: bool
) -> list[tuple[str, str]]:
    """The order to stop; it replaces the news of the claim that it ended."""
    entry = stopping.in_force(ctx, snapshot).get(agent)
    if entry is None:
        return []
    key = f"stop/{entry.id}"
    is_new = again or not is_told(ctx.ws, agent, key)
    return [(clean(entry.words) if is_new else "", key)]


def must_stop(ctx: Context, snapshot: Snapshot, agent: AgentName) -> bool:
    """Whether the agent has not heard yet that it must stop, or that it lost its claim."""
    stops = _of_stop(ctx, snapshot, agent, again=False) or _of_fence(ctx, agent, again=False)
    return any(text for text, _ in stops)


def is_covered(ws: Workspace, agent: AgentName, news: News, keys: Collection[str] = ()) -> bool:
    """Whether the news of the decision after an answer is among `keys` or was delivered; then the
    answer itself adds nothing."""
    key = f"{others_news.KEY}{news.decision}"
    return bool(news.decision) and (key in keys or is_told(ws, agent, key))


def _answer(news: News) -> str:
    """An answer in its block; if its question is too long, the command that shows it."""
    text = clean(escalation.render_news([news], limit=ANSWER_LIMIT).rstrip())
    if _units(text) <= 2 * ANSWER_LIMIT:
        return text
    name = news.escalation.name
    return f"{name} was answered: see `ghp agent-escalations {name}`."


def of_others(ctx: Context, snapshot: Snapshot, agent: AgentName) -> Notifications:
    """What others did that concerns `agent`, if it was not delivered."""
    items = [*_once(ctx, snapshot, agent), *undelivered.texts(ctx, snapshot, agent)]
    items += others_news.gather(ctx, snapshot, agent)
    lines = [text for text, _ in items if text]
    return Notifications("\n".join(lines), tuple(name for _, name in items))


def fence_lines(ctx: Context, snapshot: Snapshot, agent: AgentName) -> list[str]:
    """The present lost claim of `agent`, and the open orders by people on GitHub."""
    fenced = _of_stop(ctx, snapshot, agent, again=True) or _of_fence(ctx, agent, again=True)
    return [text for text, _ in [*fenced, *_wanted(ctx, snapshot, agent, again=True)]]


def stopped_issues(ctx: Context, snapshot: Snapshot, agent: AgentName) -> frozenset[int]:
    """The issues on which `agent` must stop: its claim was lost, or a person stopped it."""
    fence = _fence(ctx, agent)
    stops = {order.issue for order in notices.stops(ctx.world, agent)}
    return frozenset(stops | ({fence.issue} if fence else set()))


def _wanted(
    ctx: Context, snapshot: Snapshot, agent: AgentName, again: bool
) -> list[tuple[str, str]]:
    """The orders by people on GitHub. With `again`, delivered orders to stop that still apply are
    included."""
    orders = notices.orders(ctx.world, agent)
    new = notices.assignments(ctx.ws, agent)
    once = [order for order in orders if not again] + new
    delivered = {name for _, name in once if is_told(ctx.ws, agent, name)}
    return [order for order in (*orders, *new) if order[1] not in delivered]


def mark(ws: Workspace, agent: AgentName, ids: Iterable[str]) -> None:
    """Remember the delivered items, after the delivery."""
    names = [name for name in ids if name]  # a line that only counts has none
    if names:
        mark_told(ws, agent, names)


def mark_printed(ctx: Context, agent: AgentName, printed: str) -> None:
    """Remember the answers that the agent read in the output of its own waiting command."""
    pending = _answers(ctx, ctx.store.snapshot(), agent)
    mark(
        ctx.ws, agent,
        [news.id for news in pending if f"{news.escalation.name}{ANSWERED}" in printed],
    )  # fmt: skip


def mark_fence(ctx: Context, agent: AgentName) -> None:
    """Remember that the agent read of its lost claim, in a refusal or the output of a command. Its
    current issue is then another one that it holds."""
    mark(ctx.ws, agent, [name for _, name in _of_fence(ctx, agent, again=False)])
    _go_on(ctx, agent)


def _go_on(ctx: Context, agent: AgentName) -> None:
    fence = _fence(ctx, agent)
    if not (fence and fence.other and is_told(ctx.ws, agent, _fence_id(fence))):
        return
    if agent not in stopping.in_force(ctx, ctx.store.snapshot()):
        next_issue.go_on(ctx, agent, fence)


def deliver(ctx: Context, agent: AgentName, ids: Iterable[str]) -> None:
    """Like `mark`, in the agent's own process; an unblocked agent gets its earlier status back. If
    it read of a lost claim, its current issue is another one that it holds."""
    names = list(ids)
    status = unblock.status_before(ctx, agent, names)
    mark(ctx.ws, agent, names)
    if status:
        presence.heartbeat(ctx.ws, ctx.store, agent, {"status": status})
    if any(name.startswith(ISSUES) for name in names):
        _go_on(ctx, agent)


def notify_agents(ctx: Context, snapshot: Snapshot) -> None:
    """Set the news flag of this clone's agents that have undelivered items. Those that rest are
    woken for some of them."""
    answered = bool(snapshot.present(ANSWERS))
    letters = messages.known_letters(ctx, snapshot)
    here = presence.agents_here(ctx.ws)
    stopping.settle(ctx, snapshot, here)
    for agent in here:
        unblocked = unblock.restore(ctx, snapshot, agent)
        stop = must_stop(ctx, snapshot, agent)
        wanted = _wanted(ctx, snapshot, agent, again=False) or _once(ctx, snapshot, agent)
        unheard = undelivered.find(ctx, snapshot, agent, letters)
        answers = _answers(ctx, snapshot, agent) if answered else []
        returns = [_return_id(entry) for entry, _ in _returns(ctx.ws, snapshot, agent)]
        new = answers or any(unheard) or returns
        if stop or new or wanted or others_news.gather(ctx, snapshot, agent):
            news_flag.set_flag(ctx.ws.folders, agent)
        calls = undelivered.first(snapshot, [x for x in unheard.messages if wakes(x)])
        urgent = [key_of(message) for message in calls]
        urgent += [key for _, key in unheard.results]
        urgent += [key for _, key in wanted if key.startswith(REACTED)]
        wake.wake(ctx, agent, [*urgent, *(answer.id for answer in answers), *returns, *unblocked])


def _answers(ctx: Context, snapshot: Snapshot, agent: AgentName) -> list[News]:
    return escalation.news_for(World(ctx, snapshot), agent) if snapshot.present(ANSWERS) else []


def _returns(ws: Workspace, snapshot: Snapshot, agent: AgentName) -> list[tuple[Return, int]]:
    """The pull requests that were sent back to the agent, if not delivered yet."""
    if not snapshot.files(FOLDER):
        return []
    pairs = send_back.for_agent(snapshot, agent)
    return [pair for pair in pairs if not is_told(ws, agent, _return_id(pair[0]))]


def _returned(sent_back: Return, round_number: int) -> str:
    text = clean(returned.news(sent_back, round_number))
    if _units(text) <= 2 * ANSWER_LIMIT:
        return text
    short = sent_back._replace(text=sent_back.text[-ANSWER_LIMIT // 2 :])
    return clean(returned.news(short, round_number))


def _return_id(sent_back: Return) -> str:
    """The id of a returned pull request among the delivered items."""
    return f"returned/{sent_back.attempt}"


def _fence(ctx: Context, agent: AgentName) -> LostClaim | None:
    fields = ctx.ws.presence(agent)
    if not fields or type(fields.get("generation")) is not int:
        return None
    return fence_of(ctx.world.claim_locks, agent, fields, ctx.locks.clone)


def _fence_id(fence: LostClaim) -> str:
    """The id of a lost claim among the delivered items."""
    return f"{ISSUES}{fence.issue}/{fence.generation}"


def _units(text: str) -> int:
    """The length in UTF-16 units, as clients count it."""
    return len(text) + sum(1 for char in text if char > "\uffff")
