"""What an agent has not heard: messages to it, and replies to its own."""

from collections.abc import Sequence
from typing import NamedTuple

from ghp_agents.core.ids import Actor, AgentName
from ghp_agents.escalations.delivered import delivered_ids
from ghp_agents.messages import fallback, mailbox, news, record, vote
from ghp_agents.messages import message as rules
from ghp_agents.messages import service as services
from ghp_agents.messages.message import PROPOSAL, URGENCIES, Letter, Message
from ghp_agents.ports import Context, Snapshot
from ghp_agents.state.sender_budget import SenderBudget


class InboxNotice(NamedTuple):
    """What an agent hears beside messages: the result of a vote, or that a request is overdue."""

    text: str
    key: str
    kind: str  # result, overdue
    about: str  # the displayed id of the message


class Undelivered(NamedTuple):
    """What an agent has not heard. `overdue` has texts with keys; the messages have no bodies."""

    messages: tuple[Message, ...] = ()  # oldest first
    overdue: tuple[tuple[str, str], ...] = ()
    results: tuple[tuple[Letter, str], ...] = ()  # of votes, with keys


def find(
    ctx: Context, snapshot: Snapshot, agent: AgentName, all_letters: Sequence[Letter] | None = None
) -> Undelivered:
    """The unread messages to `agent` that are urgent enough. A caller that asks for several agents
    passes `all_letters`."""
    if all_letters is None:
        all_letters = services.known_letters(ctx, snapshot, agent)
    if not all_letters:
        return Undelivered()
    now, fields = ctx.ws.clock.now(), ctx.ws.presence(agent) or {}
    roles = services.roles_of(ctx, snapshot, agent)
    mail = fallback.inbox(ctx, snapshot, all_letters, roles)
    over = (letter.is_over(now) or vote.is_decided(letter, now) for letter in mail)
    letters = [letter for letter, ended in zip(mail, over, strict=True) if not ended]
    mine = rules.outbox(all_letters, Actor(agent))
    since, delivered = str(fields.get("startedAt", "")), delivered_ids(ctx.ws, agent)
    unread = news.unread(letters, mine, agent, delivered, since)
    least = URGENCIES.index(ctx.ws.settings.notify)
    urgent = [message for message in unread if URGENCIES.index(message.urgency) >= least]
    proposals = [letter for letter in (*mail, *mine) if letter.message.kind == PROPOSAL]
    ended = vote.unheard(dict.fromkeys(proposals), agent, delivered, since, now)
    return Undelivered(tuple(urgent), tuple(news.overdue(mine, delivered, now)), tuple(ended))


def texts(
    ctx: Context, snapshot: Snapshot, agent: AgentName, all_letters: Sequence[Letter] | None = None
) -> list[tuple[str, str]]:
    """The same as texts with keys: the first messages, and the number of the rest. Many notes to
    one topic are one text."""
    pending = find(ctx, snapshot, agent, all_letters)
    folded = {entry.message: entry for entry in news.fold(pending.messages)}
    some = [folded[x] for x in first(snapshot, [*folded])[: news.LIMIT // 100]]
    whole = [entry._replace(message=mailbox.whole(snapshot, entry.message)) for entry in some]
    notes = [(notice.text, notice.key) for notice in notices(ctx, snapshot, pending)]
    return [*notes, *news.texts(whole, len(pending.messages))]


def first(snapshot: Snapshot, messages: Sequence[Message]) -> list[Message]:
    """Of the messages to one agent, those that it is told now: the first of each sender, so that a
    flood hides no other's."""
    budget = SenderBudget(snapshot)
    return budget.first("messages", messages, lambda x: budget.writers(record.path_of(x.id)))


def notices(ctx: Context, snapshot: Snapshot, pending: Undelivered) -> list[InboxNotice]:
    """The results and what is overdue, with their texts."""
    now = ctx.ws.clock.now()
    results = [
        InboxNotice(vote.sentence(mailbox.whole_letter(snapshot, letter), now), key, "result", name)
        for letter, key in pending.results
        for name in (letter.message.name,)
    ]
    late = [
        InboxNotice(text, key, "overdue", f"M-{key.split('/')[1]}") for text, key in pending.overdue
    ]
    return [*results, *late]
