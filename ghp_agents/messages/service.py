"""Messages: send them, list and read them, and say what became of what was asked."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from ghp_agents.core import secret_scan
from ghp_agents.core.clock import to_text
from ghp_agents.core.errors import RefusedError, UsageError
from ghp_agents.core.ids import UNNAMED, Actor, AgentName, CloneId, Timestamp, count, one_line
from ghp_agents.escalations import service as escalation
from ghp_agents.hotpath import news_flag
from ghp_agents.issues.numbers import named_or_current
from ghp_agents.messages import address, mailbox, news, record, subscriptions, topic_list
from ghp_agents.messages import claim as claims
from ghp_agents.messages import message as rules
from ghp_agents.messages.address import Roles
from ghp_agents.messages.message import (
    ACK,
    CLAIMED,
    COMMAND,
    DEFAULT_URGENCY,
    DONE,
    FAILED,
    NEW,
    NOTE,
    REPLIES,
    URGENCIES,
    Letter,
    Message,
)
from ghp_agents.messages.topic import is_topic
from ghp_agents.messages.topic_list import Topic
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import people
from ghp_agents.presence import service as presence
from ghp_agents.state.codec import ledger_record, seconds
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact

BODY_LIMIT = 65_536  # characters
ARTIFACT_LIMIT = 50
HOUR, AGAIN = 3_600, 120  # seconds


class SendResult(NamedTuple):
    """A sent message. `notes` are for the sender."""

    message: Message
    is_new: bool
    notes: tuple[str, ...] = ()


class ReplyResult(NamedTuple):
    """A message after an agent's reply. `is_new`: whether the reply says something new."""

    letter: Letter
    reply: Message
    is_new: bool


class Draft(NamedTuple):
    """What a sender gives."""

    to: Sequence[str]
    subject: str
    body: str = ""
    kind: str = NOTE
    urgency: str = DEFAULT_URGENCY
    reply_to: str = ""
    issue: str | int | None = None
    ack_within: int = 0  # seconds
    done_within: int = 0
    expires: int = 0
    artifacts: Sequence[str] = ()
    payload: str = ""  # JSON; then there is no body


def send(ctx: Context, draft: Draft) -> SendResult:
    """Send a message. Sent again, right after the first time, it is the same message.

    Raises UsageError, NotFoundError for an unknown issue or message, RefusedError for a command by
    an agent that may not command; then nothing was sent.
    """
    by, to = ctx.ws.actor(), address.checked_all(draft.to)
    if not to:
        raise UsageError("The message has no recipient.", hint="Name an agent, or @all.")
    if draft.kind == COMMAND and not rules.may_command(by, ctx.ws.settings.orchestrators):
        raise RefusedError(
            "Only people and orchestrators may command agents.",
            hint="Send it with `--kind request`. The setting `orchestrators` names the agents that "
            "may.",
        )
    subject = _line("subject", draft.subject, record.SUBJECT_LIMIT)
    body = _body(_payload(to, draft) or draft.body)
    artifacts = _artifacts(draft.artifacts)
    issue = named_or_current(ctx, None if by.is_person else by.name, draft.issue)

    def decide(snapshot: Snapshot) -> tuple[SendResult, list[Record]]:
        known = mailbox.read(ctx.ws, snapshot)
        about = rules.find(known, draft.reply_to).id if draft.reply_to else ""
        message = Message(
            "", by, to, subject, *_when(ctx, snapshot), body=body, kind=draft.kind, about=about,
            urgency=draft.urgency, issue=issue, ack_within=draft.ack_within,
            done_within=draft.done_within, expires=draft.expires, artifacts=artifacts,
            is_payload=bool(draft.payload),
        )  # fmt: skip
        for clone in {message.clone, UNNAMED}:  # the clone's first record made its name
            if earlier := _repeated(ctx, known, message._replace(clone=clone)):
                return SendResult(earlier, is_new=False), []
        _refuse_storm(ctx, known, message)
        message = message._replace(id=rules.identity(message, _times(message, known)))
        notes = (*_absent(snapshot, message), *_unheard(ctx, snapshot, message))
        return SendResult(message, is_new=True, notes=notes), [_sent(message)]

    result = transact(ctx.store, decide)
    if result.is_new:
        _ring(ctx, result.message)
    return result


def _when(ctx: Context, snapshot: Snapshot) -> tuple[Timestamp, int, CloneId]:
    return Timestamp(to_text(ctx.ws.clock.now())), snapshot.clock + 1, snapshot.clone


def _repeated(ctx: Context, known: Sequence[Message], message: Message) -> Message | None:
    """The equal message, if a command that is typed or retried again means it: it was sent a moment
    ago and nobody has begun with it."""
    times = _times(message, known)
    identity = rules.identity(message, times - 1)
    equal = next((each for each in known if times and each.id == identity), None)
    if equal is None or any(each.about == identity for each in known):
        return None
    return equal if ctx.ws.clock.now() - seconds(equal.at) < AGAIN else None


def _refuse_storm(ctx: Context, known: Sequence[Message], message: Message) -> None:
    """Raise RefusedError if an agent sends too much, or goes on answering without an end."""
    by, settings = message.by, ctx.ws.settings
    if by.is_person:
        return
    since = ctx.ws.clock.now() - HOUR
    sent = [each for each in known if each.by == by and seconds(each.at) > since]
    if len(sent) >= settings.messages_per_hour:
        raise RefusedError(
            f"{by} has sent {len(sent)} messages within an hour, which is the limit.",
            hint="Put several things into one message, or wait. A person can raise the limit: "
            "`messagesPerHour` in .ghp/config.json.",
        )
    asked = next((each for each in known if each.id == message.about), None)
    if asked and rules.rounds(known, asked, by) >= settings.max_rounds:
        raise RefusedError(
            f"{by} has written {settings.max_rounds} times in this conversation, which is the "
            "limit.",
            hint="Ask a person to decide: `ghp agent-escalate QUESTION`.",
        )


def _times(message: Message, known: Sequence[Message]) -> int:
    """How many equal messages there are."""
    taken, times = {each.id for each in known}, 0
    while rules.identity(message, times) in taken:
        times += 1
    return times


def _absent(snapshot: Snapshot, message: Message) -> tuple[str, ...]:
    """Notes on recipients that cannot read it now."""
    agents, notes = snapshot.agents(), []
    for name in address.named(message.to):
        if name not in agents:
            notes.append(f"There is no agent {name} yet. It gets the message when it starts.")
        elif agents[name].get("status") == "stopped":
            notes.append(f"{name} has stopped. It gets the message when it starts again.")
    return tuple(notes)


def _unheard(ctx: Context, snapshot: Snapshot, message: Message) -> tuple[str, ...]:
    """A note if the message reaches no known agent."""
    if not all(map(address.is_group, message.to)):
        return ()
    names = snapshot.agents().keys() - {message.by.name}
    roles = subscriptions.roles_of_all(ctx.ws, snapshot, names)
    if any(address.reaches(message.to, each) for each in roles):
        return ()
    return (f"No other agent listens to {', '.join(message.to)} now.",)


def _payload(to: Sequence[str], draft: Draft) -> str:
    """The payload as JSON for the body; empty if there is none. Raises UsageError."""
    if draft.payload and draft.body:
        raise UsageError("A payload is the body.", hint="Leave out --body and --body-file.")
    try:
        value = json.loads(draft.payload, parse_constant=_no_number) if draft.payload else None
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"The payload is not JSON: {error}.", hint="Quote it as one word."
        ) from None
    for name in (each[1:] for each in to if is_topic(each)):
        topic_list.checked_payload(name, value)
    return "" if value is None else json.dumps(value, indent=2, ensure_ascii=False)


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _line(what: str, text: str, limit: int) -> str:
    line = one_line(text.encode("utf-8", "replace").decode("utf-8"), len(text) + 1)
    if not 0 < len(line) <= limit:
        raise UsageError(
            f"The {what} has {count(len(line), 'character')}; it needs 1 to {limit}.",
            hint="Put the details into the body: --body-file FILE, or `-` for standard input.",
        )
    secret_scan.refuse(what, line)
    return line


def _body(text: str) -> str:
    tidy = text.encode("utf-8", "replace").decode("utf-8")
    tidy = tidy.replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()
    if len(tidy) > BODY_LIMIT:
        raise UsageError(
            f"The body has {len(tidy)} characters; the limit is {BODY_LIMIT}.",
            hint="Save it as a file in the repository, and name the file with --artifact.",
        )
    secret_scan.refuse("body", tidy)
    return tidy


def _artifacts(texts: Sequence[str]) -> tuple[str, ...]:
    if len(texts) > ARTIFACT_LIMIT:
        raise UsageError(
            f"A message has at most {ARTIFACT_LIMIT} artifacts; these are {len(texts)}.",
            hint="Name the folder that has them, or the commit.",
        )
    return tuple(_line("artifact", text, 500) for text in texts)


def _sent(message: Message) -> Record:
    event = message.kind if message.kind in REPLIES else "send"
    about = f"M-{message.about}" if message.kind in REPLIES else message.name
    path = record.path_of(message.id)
    files = [(path, record.render_message(message))]
    return ledger_record(message, event, about, files, issue=message.issue, text=message.subject)


def _ring(ctx: Context, message: Message) -> None:
    """Let the recipients of this clone look for news at their next step."""
    named = address.named(message.to)
    here = presence.agents_here(ctx.ws) if len(named) < len(message.to) else named
    for name in {*named, *here}:
        news_flag.set_flag(ctx.ws.folders, name)


def _roles(ctx: Context, snapshot: Snapshot, agent: str) -> Roles:
    (roles,) = subscriptions.roles_of_all(ctx.ws, snapshot, [agent])
    return roles


def topics(ctx: Context) -> list[Topic]:
    """The known topics, by name."""
    return topic_list.known(mailbox.read(ctx.ws, ctx.store.snapshot()))


def known_letters(ctx: Context, snapshot: Snapshot) -> list[Letter]:
    """All letters, oldest first."""
    found = rules.letters(mailbox.read(ctx.ws, snapshot), ctx.ws.settings.orchestrators)
    return claims.believed(ctx, found)


def sent(ctx: Context, snapshot: Snapshot, by: Actor) -> list[Letter]:
    """The letters that somebody sent, newest first."""
    return rules.outbox(known_letters(ctx, snapshot), by)[::-1]


def inbox(ctx: Context, snapshot: Snapshot, agent: AgentName) -> list[Letter]:
    """The letters to an agent, what it must do first."""
    found = rules.inbox(known_letters(ctx, snapshot), _roles(ctx, snapshot, agent))
    now = ctx.ws.clock.now()
    return rules.by_need([each for each in found if not each.is_over(now)], agent)


def claim(ctx: Context, reference: str) -> ReplyResult:
    """Take on what a message asks for: its sender is told. Of a group, only one agent may.

    Raises RefusedError if another agent has it, UnknownError if nobody can tell.
    """
    return _reply(ctx, reference, ACK, "", ())


def finish(
    ctx: Context, reference: str, text: str = "", artifacts: Sequence[str] = (), *, fails: bool
) -> ReplyResult:
    """Say that what a message asks for is done, or cannot be done: its sender is told.

    Raises as `claim`.
    """
    return _reply(ctx, reference, FAILED if fails else DONE, text, artifacts)


def _reply(
    ctx: Context, reference: str, kind: str, text: str, artifacts: Sequence[str]
) -> ReplyResult:
    agent = ctx.ws.agent()
    body, named = _body(text), _artifacts(artifacts)
    letter = _asked(ctx, ctx.store.snapshot(), agent, reference)
    if letter.message.is_shared and letter.holder != agent:
        _refuse_if_over(letter.message, letter.state)
    generation = claims.take(ctx, letter, agent) if letter.message.is_shared else 0

    def decide(snapshot: Snapshot) -> tuple[ReplyResult, list[Record]]:
        asked = _asked(ctx, snapshot, agent, reference)
        message = asked.message
        to = one_line(message.by.name, 60).replace(",", " ")
        reply = Message(
            "", Actor(agent), (to,), message.subject, *_when(ctx, snapshot), body=body, kind=kind,
            about=message.id, issue=message.issue, artifacts=named, claim=generation,
        )  # fmt: skip
        reply = reply._replace(id=rules.identity(reply, 0))
        for earlier in asked.replies:
            if earlier.id == reply.id:
                return ReplyResult(asked, earlier, is_new=False), []
        _refuse_if_over(message, asked.state_of(agent))
        after = asked._replace(replies=(*asked.replies, reply))
        return ReplyResult(after, reply, is_new=True), [_sent(reply)]

    result = transact(ctx.store, decide)
    escalation.mark_told(ctx.ws, agent, [news.key_of(result.letter.message)])
    if result.is_new and not result.letter.message.by.is_person:
        news_flag.set_flag(ctx.ws.folders, result.letter.message.by.name)
    return result


def _refuse_if_over(message: Message, state: str) -> None:
    if state not in (NEW, CLAIMED):
        raise RefusedError(f"{message.name} is {state} already.", hint=_how_to_reply(message))


def _asked(ctx: Context, snapshot: Snapshot, agent: AgentName, reference: str) -> Letter:
    """The letter that an agent replies to. Raises NotFoundError, RefusedError."""
    known = known_letters(ctx, snapshot)
    message = rules.find([each.message for each in known], reference)
    letter = next(each for each in known if each.message is message)
    if letter not in rules.inbox([letter], _roles(ctx, snapshot, agent)):
        raise RefusedError(
            f"{message.name} was not sent to {agent}.",
            hint=people.instead(ctx.ws.environ, "replies to it")
            if message.by == Actor(agent)
            else "`ghp agent-inbox` lists what was sent to you.",
        )
    if not message.wants_work:
        raise RefusedError(
            f"{message.name} is a note: it asks for nothing.",
            hint=_how_to_reply(message),
        )
    return letter


def _how_to_reply(message: Message) -> str:
    to = "@all" if message.by.is_person else message.by.name
    return f"To reply: `ghp agent-send {to} SUBJECT --reply-to {message.name}`."


def read(ctx: Context, reference: str) -> tuple[Message, list[Message]]:
    """A message and its thread, oldest first, with their bodies. Raises NotFoundError."""
    snapshot = ctx.store.snapshot()
    known = mailbox.read(ctx.ws, snapshot)
    message = rules.find(known, reference)
    thread = [mailbox.whole(snapshot, each) for each in rules.thread(known, message)]
    return mailbox.whole(snapshot, message), thread


def unread(
    ctx: Context, snapshot: Snapshot, agent: AgentName, known: Sequence[Letter] | None = None
) -> list[tuple[str, str]]:
    """The messages that an agent has not heard, as texts with keys, and the number of the rest.
    Who asks for several agents passes the `known` letters."""
    known = known_letters(ctx, snapshot) if known is None else known
    if not known:
        return []
    now, fields = ctx.ws.clock.now(), ctx.ws.presence(agent) or {}
    roles = _roles(ctx, snapshot, agent)
    letters = [each for each in rules.inbox(known, roles) if not each.is_over(now)]
    mine = rules.outbox(known, Actor(agent))
    since, told = str(fields.get("startedAt", "")), escalation.delivered_ids(ctx.ws, agent)
    found = news.unread(letters, mine, agent, told, since)
    least = URGENCIES.index(ctx.ws.settings.notify)
    found = [each for each in found if URGENCIES.index(each.urgency) >= least]
    first = [mailbox.whole(snapshot, each) for each in found[: news.LIMIT // 100]]
    return [*news.overdue(mine, told, now), *news.texts(first, len(found))]
