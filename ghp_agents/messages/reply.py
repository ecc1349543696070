"""Replies to requests: an agent begins with one, and reports its result."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ghp_agents.core.errors import NotFoundError, RefusedError, UsageError
from ghp_agents.core.ids import Actor, AgentName
from ghp_agents.escalations.delivered import mark_told
from ghp_agents.hotpath import news_flag
from ghp_agents.messages import address, fallback, news, service, texts
from ghp_agents.messages import claim as claims
from ghp_agents.messages import message as rules
from ghp_agents.messages.message import (
    ACK,
    CLAIMED,
    DONE,
    FAILED,
    NEW,
    PROPOSAL,
    REVIEW,
    Letter,
    Message,
)
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import people
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact

ANSWERED = ("question", "context")  # kinds of messages that are not done without an answer


class Saying(NamedTuple):
    """What an agent replies."""

    kind: str
    text: str = ""
    artifacts: Sequence[str] = ()
    verdict: str = ""  # of a review
    pull: int = 0  # that was reviewed
    commit: str = ""


AndRecorded = Callable[[Snapshot], list[Record]]


class ReplyResult(NamedTuple):
    """A message after an agent's reply. `is_new`: whether the reply was recorded now."""

    letter: Letter
    reply: Message
    is_new: bool


def claim(ctx: Context, reference: str) -> ReplyResult:
    """Begin with what a message asks for; its sender is told. Only one agent of a group may do
    this.

    Raises RefusedError if another agent has it, UnknownError if that is unknown.
    """
    return _reply(ctx, reference, Saying(ACK))


def finish(
    ctx: Context, reference: str, text: str = "", artifacts: Sequence[str] = (), *, fails: bool
) -> ReplyResult:
    """Say that what a message asks for is done, or cannot be done: its sender is told.

    Raises as `claim`.
    """
    return _reply(ctx, reference, Saying(FAILED if fails else DONE, text, artifacts))


def finish_review(
    ctx: Context, reference: str, saying: Saying, recorded: AndRecorded = lambda _: []
) -> ReplyResult:
    """Complete a review: reply and review are one write. Raises as `claim`."""
    return _reply(ctx, reference, saying, recorded)


def check(ctx: Context, references: Sequence[str], saying: Saying) -> None:
    """Raise what the reply to one of several messages would raise, before the first is replied to.
    Who claims a message of a group is only known when it is claimed."""
    agent, snapshot = ctx.ws.agent(), ctx.store.snapshot()
    for reference in references:
        letter = asked(ctx, snapshot, agent, reference)
        _refuse_incomplete(letter.message, saying)
        if not any(reply.by == Actor(agent) for reply in letter.replies):
            _refuse_if_over(letter.message, letter.state_of(agent))


def _refuse_incomplete(message: Message, saying: Saying) -> None:
    """Raise UsageError if a reply lacks what the message asks for."""
    if saying.kind == DONE and message.kind in ANSWERED and not (saying.text or saying.artifacts):
        raise UsageError(
            f"{message.name} asks for an answer.",
            hint=f"Give it: `ghp agent-inbox done {message.name} --result TEXT`.",
        )
    if saying.kind == DONE and message.kind == REVIEW and not saying.verdict:
        raise _no_verdict(message.name)


def _reply(
    ctx: Context, reference: str, saying: Saying, recorded: AndRecorded = lambda _: []
) -> ReplyResult:
    agent = ctx.ws.agent()
    body, named = texts.body(saying.text), texts.artifacts(saying.artifacts)
    letter = asked(ctx, ctx.store.snapshot(), agent, reference)
    _refuse_incomplete(letter.message, saying._replace(text=body, artifacts=named))
    if letter.message.is_shared and letter.holder != agent:
        _refuse_if_over(letter.message, letter.state)
    generation = claims.take(ctx, letter, agent) if letter.message.is_shared else 0

    def decide(snapshot: Snapshot) -> tuple[ReplyResult, list[Record]]:
        before = asked(ctx, snapshot, agent, reference)
        message = before.message
        to = address.of_author(message.by)
        reply = Message(
            "", Actor(agent), (to,), message.subject, *service.when(ctx, snapshot), body=body,
            kind=saying.kind, about=message.id, issue=message.issue, artifacts=named,
            claim=generation, verdict=saying.verdict, pull=saying.pull, commit=saying.commit,
        )  # fmt: skip
        reply = reply._replace(id=rules.identity(reply, 0))
        for earlier in before.replies:
            if earlier.id == reply.id:
                return ReplyResult(before, earlier, is_new=False), []
        _refuse_if_over(message, before.state_of(agent))
        after = before._replace(replies=(*before.replies, reply))
        more = recorded(snapshot)
        return ReplyResult(after, reply, is_new=True), [service.sent_record(reply), *more]

    result = transact(ctx.store, decide)
    mark_told(ctx.ws, agent, [news.key_of(result.letter.message)])
    if result.is_new and not result.letter.message.by.is_person:
        news_flag.set_flag(ctx.ws.folders, result.letter.message.by.name)
    return result


def _no_verdict(name: str) -> UsageError:
    done = f"ghp agent-inbox done {name}"
    return UsageError(
        f"{name} asks for a review, and the verdict is missing.",
        hint=f"Approve: `{done} --verdict approve`. Request changes: `{done} --verdict changes "
        f"--result TEXT`. To decline: `ghp agent-inbox fail {name} --reason TEXT`.",
    )


def _refuse_if_over(message: Message, state: str) -> None:
    if state not in (NEW, CLAIMED):
        raise RefusedError(f"{message.name} is {state} already.", hint=_how_to_reply(message))


def asked(ctx: Context, snapshot: Snapshot, agent: AgentName, reference: str) -> Letter:
    """The letter that an agent replies to. Raises NotFoundError, RefusedError."""
    letters = service.known_letters(ctx, snapshot)
    is_archived = False
    try:
        message = rules.find([candidate.message for candidate in letters], reference)
    except NotFoundError:
        letters = service.known_letters(ctx, snapshot, everything=True)
        message = rules.find([candidate.message for candidate in letters], reference)
        is_archived = True
    letter = next(candidate for candidate in letters if candidate.message is message)
    if letter not in fallback.inbox(
        ctx, snapshot, [letter], service.roles_of(ctx, snapshot, agent)
    ):
        raise RefusedError(
            f"{message.name} was not sent to {agent}.",
            hint=people.instead(ctx.ws.environ, "replies to it")
            if message.by == Actor(agent)
            else "`ghp agent-inbox` lists what was sent to you.",
        )
    if message.kind == PROPOSAL:
        raise RefusedError(
            f"{message.name} is a proposal.",
            hint=f"Vote on it: `ghp agent-vote {message.name} --for`, --against or --abstain.",
        )
    if not message.wants_work:
        raise RefusedError(
            f"{message.name} is a note: it asks for nothing.",
            hint=_how_to_reply(message),
        )
    if is_archived and letter.state_of(agent) in (NEW, CLAIMED):
        raise RefusedError(f"{message.name} expired long ago.", hint=_how_to_reply(message))
    return letter


def _how_to_reply(message: Message) -> str:
    to = "@all" if message.by.is_person else message.by.name
    return f"To reply: `ghp agent-send {to} SUBJECT --reply-to {message.name}`."
