"""Vote on a proposal, and read its result."""

from typing import NamedTuple

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import Actor
from ghp_agents.escalations.delivered import mark_told
from ghp_agents.hotpath import news_flag
from ghp_agents.messages import address, mailbox, news, service, texts
from ghp_agents.messages import message as rules
from ghp_agents.messages import vote as votes
from ghp_agents.messages.message import PROPOSAL, VOTE, Letter, Message
from ghp_agents.messages.vote import OPEN, Ballot
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.settings import rights
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact


class Voted(NamedTuple):
    """A proposal with its votes. `is_new`: whether this vote changes something."""

    letter: Letter
    ballot: Ballot
    is_new: bool = False


def look(ctx: Context, reference: str) -> Voted:
    """A proposal and its votes, with their reasons. Raises NotFoundError, RefusedError."""
    return _look(ctx, ctx.store.snapshot(), reference)


def _look(ctx: Context, snapshot: Snapshot, reference: str) -> Voted:
    letters = service.known_letters(ctx, snapshot)
    cast = [reply for letter in letters for reply in letter.replies if reply.kind == VOTE]
    message = rules.find([*(candidate.message for candidate in letters), *cast], reference)
    wanted = message.about if message.kind == VOTE else message.id
    letter = next(candidate for candidate in letters if candidate.message.id == wanted)
    message = letter.message
    if message.kind != PROPOSAL:
        raise RefusedError(
            f"{message.name} is not a proposal but a {message.kind}.",
            hint="To propose something: `ghp agent-send @all SUBJECT --kind proposal`.",
        )
    letter = mailbox.whole_letter(snapshot, letter)
    return Voted(letter, votes.ballot(letter, ctx.ws.clock.now()))


def vote(ctx: Context, reference: str, choice: str, reason: str = "") -> Voted:
    """Vote for a choice of CHOICES; the last vote counts. A person's vote decides.

    Raises NotFoundError, and RefusedError for who was not asked and after the end.
    """
    by, body = ctx.ws.actor(), texts.body(reason)

    def decide(snapshot: Snapshot) -> tuple[Voted, list[Record]]:
        voted = _look(ctx, snapshot, reference)
        _refuse(ctx, snapshot, voted, by)
        letter, message = voted.letter, voted.letter.message
        own = [reply for reply in letter.replies if reply.by == by]
        if own and (own[-1].verdict, own[-1].body) == (choice, body):
            return voted, []
        entry = Message(
            "", by, (address.of_author(message.by),), message.subject, *service.when(ctx, snapshot),
            body=body, kind=VOTE, about=message.id, issue=message.issue, verdict=choice,
        )  # fmt: skip
        entry = entry._replace(id=rules.identity(entry, len(own)))
        after = letter._replace(replies=(*letter.replies, entry))
        ballot = votes.ballot(after, ctx.ws.clock.now())
        return Voted(after, ballot, is_new=True), [service.sent_record(entry)]

    voted = transact(ctx.store, decide)
    if not by.is_person:
        mark_told(ctx.ws, ctx.ws.agent(), [news.key_of(voted.letter.message)])
    if voted.ballot.outcome != OPEN:
        for agent in presence.agents_here(ctx.ws):
            news_flag.set_flag(ctx.ws.folders, agent)
    return voted


def _refuse(ctx: Context, snapshot: Snapshot, voted: Voted, by: Actor) -> None:
    if by.is_person:
        return  # people vote on everything, and decide after the end, too
    letter, ballot = voted.letter, voted.ballot
    message = letter.message
    is_asked = letter in rules.inbox([letter], service.roles_of(ctx, snapshot, by.name))
    if not rights.may_vote(by, is_asked=is_asked):
        own = message.by == by
        raise RefusedError(
            f"{message.name} is your own proposal: the others vote."
            if own
            else f"{message.name} was not sent to {by}.",
            hint=f"`ghp agent-vote {message.name}` shows the votes.",
        )
    if ballot.outcome != OPEN:
        raise RefusedError(
            f"The vote on {message.name} has ended: {ballot.words}.",
            hint="A person can still decide otherwise.",
        )
