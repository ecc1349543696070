"""Messages: send, list and read them, and report the state of requests."""

from collections.abc import Sequence
from typing import NamedTuple

from ghp_agents.core.clock import to_text
from ghp_agents.core.errors import RefusedError, UsageError
from ghp_agents.core.ids import UNNAMED, Actor, AgentName, CloneId, Timestamp, agent_name
from ghp_agents.core.metadata import NO_METADATA, Metadata
from ghp_agents.hotpath import news_flag
from ghp_agents.messages import (
    address,
    endless,
    fallback,
    mailbox,
    record,
    subscriptions,
    texts,
    topic_list,
)
from ghp_agents.messages import claim as claims
from ghp_agents.messages import message as rules
from ghp_agents.messages.address import Roles
from ghp_agents.messages.channels import channel_list
from ghp_agents.messages.message import (
    COMMAND,
    DEFAULT_URGENCY,
    NOTE,
    PROPOSAL,
    REPLIES,
    Letter,
    Message,
)
from ghp_agents.messages.topic_list import Topic
from ghp_agents.ports import Context, Snapshot
from ghp_agents.settings import rights
from ghp_agents.state.codec import ledger_record, seconds
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact

HOUR, AGAIN = 3_600, 120  # seconds


class SendResult(NamedTuple):
    """A sent message. `notes` are for the sender."""

    message: Message
    is_new: bool
    notes: tuple[str, ...] = ()


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
    pull: int = 0  # of a review: its pull request
    commit: str = ""  # and the commit of it
    quorum: int = 0  # of a proposal
    or_agent: str = ""  # who does it if its recipient does not begin; of a workflow, its first step
    workflow: str = ""  # that it starts
    metadata: Metadata = NO_METADATA  # as `metadata.checked` returned it


def send(ctx: Context, draft: Draft) -> SendResult:
    """Send a message. Sent again, right after the first time, it is the same message.

    Raises UsageError, NotFoundError for an unknown issue or message, RefusedError for a command by
    an agent that may not command or writes too much; then nothing was sent.
    """
    from ghp_agents.issues.numbers import named_or_current  # an inbox does not need issues

    by, to = ctx.ws.actor(), address.checked_all(draft.to)
    if not to:
        raise UsageError("The message has no recipient.", hint="Name an agent, or @all.")
    channel_list.refuse_others(ctx.ws, by, to)
    if draft.kind == COMMAND and not rights.may_command(by, ctx.ws.settings.orchestrators):
        raise RefusedError(
            "Only people and orchestrators may command agents.",
            hint="Send it with `--kind request`. The setting `orchestrators` names the agents that "
            "may.",
        )
    draft = _as_proposal(draft) if draft.kind == PROPOSAL or draft.quorum else draft
    if draft.or_agent and not draft.workflow:
        _check_spare(draft, to)
    subject = texts.line("subject", draft.subject, record.SUBJECT_LIMIT)
    body = texts.body(texts.payload(to, draft.payload, draft.body) or draft.body)
    artifacts = texts.artifacts(draft.artifacts)
    issue = named_or_current(ctx, None if by.is_person else by.name, draft.issue)

    def decide(snapshot: Snapshot) -> tuple[SendResult, list[Record]]:
        messages = mailbox.of(ctx.ws, snapshot, by.name, draft.reply_to)
        about = mailbox.find(snapshot, messages, draft.reply_to).id if draft.reply_to else ""
        message = Message(
            "", by, to, subject, *when(ctx, snapshot), body=body, kind=draft.kind, about=about,
            urgency=draft.urgency, issue=issue, ack_within=draft.ack_within,
            done_within=draft.done_within, expires=draft.expires, artifacts=artifacts,
            is_payload=bool(draft.payload), pull=draft.pull, commit=draft.commit,
            quorum=draft.quorum, or_agent=draft.or_agent, workflow=draft.workflow,
            metadata=draft.metadata,
        )  # fmt: skip
        for clone in {message.clone, UNNAMED}:  # the clone's first record made its name
            if earlier := _repeated(ctx, messages, message._replace(clone=clone)):
                return SendResult(earlier, is_new=False), []
        _refuse_storm(ctx, messages, message)
        message = message._replace(id=rules.identity(message, _times(message, messages)))
        notes = (*_absent(snapshot, message), *unheard(ctx, snapshot, message))
        return SendResult(message, is_new=True, notes=notes), [sent_record(message)]

    try:
        result = transact(ctx.store, decide)
    except endless.EndlessError as error:
        raise endless.ask(ctx, error) from None
    if result.is_new:
        _ring(ctx, result.message)
    return result


def _as_proposal(draft: Draft) -> Draft:
    """A proposal with an end. Raises UsageError for a quorum of something else."""
    if draft.kind != PROPOSAL:
        raise UsageError("Only a proposal has a quorum.", hint="Add --kind proposal.")
    return draft._replace(done_within=draft.done_within or rules.VOTE_LASTS)


def _check_spare(draft: Draft, to: Sequence[str]) -> None:
    """Raise UsageError if a message cannot have another agent that does it."""
    agent_name(draft.or_agent)
    if draft.kind in (NOTE, PROPOSAL):
        raise UsageError(
            f"A {draft.kind} has no other agent: nobody has to do it.",
            hint="Use --or-agent with `--kind request`.",
        )
    if len(to) > 1 or draft.or_agent in to:
        raise UsageError(
            "--or-agent names the agent that does it if the one recipient does not begin.",
            hint="Name one recipient, and another agent with --or-agent.",
        )


def when(ctx: Context, snapshot: Snapshot) -> tuple[Timestamp, int, CloneId]:
    """The time, the clock and the clone of a new message."""
    return Timestamp(to_text(ctx.ws.clock.now())), snapshot.clock + 1, snapshot.clone


def _repeated(ctx: Context, messages: Sequence[Message], message: Message) -> Message | None:
    """The equal message that a repeated command means: it was sent a moment ago, and nobody has
    begun with it."""
    times = _times(message, messages)
    identity = rules.identity(message, times - 1)
    equal = next((earlier for earlier in messages if times and earlier.id == identity), None)
    if equal is None or any(earlier.about == identity and not earlier.step for earlier in messages):
        return None
    return equal if ctx.ws.clock.now() - seconds(equal.at) < AGAIN else None


def _refuse_storm(ctx: Context, messages: Sequence[Message], message: Message) -> None:
    """Raise RefusedError if an agent sends too much, or answers without end."""
    by, settings = message.by, ctx.ws.settings
    if by.is_person:
        return
    since = ctx.ws.clock.now() - HOUR
    sent = [earlier for earlier in messages if earlier.by == by and seconds(earlier.at) > since]
    if len(sent) >= settings.messages_per_hour:
        raise RefusedError(
            f"{by} has sent {len(sent)} messages within an hour, which is the limit.",
            hint="Put several things into one message, or wait. A person can raise the limit: "
            "`messagesPerHour` in .ghp/config.json.",
        )
    original = next((earlier for earlier in messages if earlier.id == message.about), None)
    if original:
        endless.refuse(messages, original, message, settings.max_rounds)


def _times(message: Message, messages: Sequence[Message]) -> int:
    """How many equal messages there are."""
    taken, times = {earlier.id for earlier in messages}, 0
    while rules.identity(message, times) in taken:
        times += 1
    return times


def _absent(snapshot: Snapshot, message: Message) -> tuple[str, ...]:
    """Notes on recipients that cannot read it now."""
    agents, notes = snapshot.agents(), []
    when_it_comes = "It gets the message when it starts."
    if message.or_agent:
        when_it_comes = f"{message.or_agent} gets the message now."
    for name in address.named(message.to):
        if name not in agents:
            notes.append(f"There is no agent {name} yet. {when_it_comes}")
        elif agents[name].get("status") == "stopped":
            notes.append(f"{name} has stopped. {when_it_comes}")
    return tuple(notes)


def unheard(ctx: Context, snapshot: Snapshot, message: Message) -> tuple[str, ...]:
    """A note if the message reaches no known agent."""
    if not all(map(address.is_group, message.to)):
        return ()
    names = snapshot.agents().keys() - {message.by.name}
    roles = subscriptions.roles_of_all(ctx.ws, snapshot, names)
    if any(address.reaches(message.to, role) for role in roles):
        return ()
    return (f"No other agent listens to {', '.join(message.to)} now.",)


def sent_record(message: Message) -> Record:
    """A message as a record of the state."""
    about = f"M-{message.about}" if message.kind in REPLIES else message.name
    path = record.path_of(message.id)
    files = [(path, record.render_message(message))]
    return ledger_record(
        message, message.event, about, files, issue=message.issue, text=message.subject
    )


def _ring(ctx: Context, message: Message) -> None:
    """Let the recipients of this clone look for news at their next step."""
    from ghp_agents.presence import service as presence

    named = address.named(message.to)
    here = presence.agents_here(ctx.ws) if len(named) < len(message.to) else named
    for name in {*named, *here, *([message.or_agent] if message.or_agent else ())}:
        news_flag.set_flag(ctx.ws.folders, name)


def roles_of(ctx: Context, snapshot: Snapshot, agent: str) -> Roles:
    """The groups to which an agent belongs."""
    (roles,) = subscriptions.roles_of_all(ctx.ws, snapshot, [agent])
    return roles


def topics(ctx: Context) -> list[Topic]:
    """The known topics, by name."""
    return topic_list.known(mailbox.read(ctx.ws, ctx.store.snapshot()))


def known_letters(
    ctx: Context, snapshot: Snapshot, name: str = "", *, everything: bool = False
) -> list[Letter]:
    """All letters, or at least those by and to `name`, oldest first; with `everything`, also those
    of conversations that are over."""
    if everything:
        messages = mailbox.everything(snapshot)
    else:
        messages = mailbox.of(ctx.ws, snapshot, name) if name else mailbox.read(ctx.ws, snapshot)
    return claims.believed(ctx, rules.letters(messages, ctx.ws.settings.orchestrators))


def timed_letters(ctx: Context, snapshot: Snapshot) -> list[Letter]:
    """The letters that ask for something by a time, oldest first."""
    messages = mailbox.timed(ctx.ws, snapshot)
    return claims.believed(ctx, rules.letters(messages, ctx.ws.settings.orchestrators))


def past_letters(ctx: Context, snapshot: Snapshot) -> list[Letter]:
    """All letters in the snapshot of a time, oldest first, without bodies. Claims are those that
    agents recorded, because locks have no past. No index is used: it describes the present."""
    messages = [message._replace(body="") for message in mailbox.everything(snapshot)]
    return rules.letters(messages, ctx.ws.settings.orchestrators)


def sent(ctx: Context, snapshot: Snapshot, by: Actor, at: float | None = None) -> list[Letter]:
    """The letters that somebody sent, newest first; `at`: the snapshot's time, if it is past."""
    letters = known_letters(ctx, snapshot, by.name) if at is None else past_letters(ctx, snapshot)
    return rules.outbox(letters, by)[::-1]


def inbox(
    ctx: Context, snapshot: Snapshot, agent: AgentName, at: float | None = None
) -> list[Letter]:
    """The letters to an agent, what it must do first; `at`: the snapshot's time, if it is past."""
    letters = known_letters(ctx, snapshot, agent) if at is None else past_letters(ctx, snapshot)
    mail = fallback.inbox(ctx, snapshot, letters, roles_of(ctx, snapshot, agent), at)
    now = ctx.ws.clock.now() if at is None else at
    return rules.by_need([letter for letter in mail if not letter.is_over(now)], agent)


def read(ctx: Context, reference: str) -> tuple[Message, list[Message]]:
    """A message and its thread, oldest first, with their bodies. Raises NotFoundError."""
    snapshot = ctx.store.snapshot()
    messages = mailbox.read(ctx.ws, snapshot)
    message = mailbox.find(snapshot, messages, reference)
    if snapshot.settled([record.FOLDER]):
        messages = mailbox.everything(snapshot)
    thread = [mailbox.whole(snapshot, part) for part in rules.thread(messages, message)]
    return mailbox.whole(snapshot, message), thread
