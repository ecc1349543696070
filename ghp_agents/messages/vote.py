"""Votes on a proposal: one for each agent, and a result that everybody computes from the votes.

The last vote of an agent counts, up to the end of the vote. A person's vote decides at any time.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from ghp_agents.core.clock import to_text
from ghp_agents.core.ids import count
from ghp_agents.hotpath.quoting import named, phrase
from ghp_agents.messages import address
from ghp_agents.messages.message import PROPOSAL, VOTE_LASTS, Letter, Message
from ghp_agents.state.codec import seconds

FOR, AGAINST, ABSTAIN = "for", "against", "abstain"
CHOICES = (FOR, AGAINST, ABSTAIN)
OPEN, ACCEPTED, REJECTED, NO_QUORUM = "open", "accepted", "rejected", "without a quorum"
REASONS_SHOWN = 5


class Ballot(NamedTuple):
    """The votes on a proposal that count, and what they decide."""

    outcome: str
    votes: tuple[Message, ...]  # one of each agent, oldest first
    quorum: int
    ends: float  # seconds
    person: Message | None = None  # the vote of the person who decided
    decided: float = 0.0  # when the outcome was clear; 0 while it is open

    def of(self, choice: str) -> list[Message]:
        """The votes for a choice."""
        return [vote for vote in self.votes if vote.verdict == choice]

    @property
    def words(self) -> str:
        """The numbers in one line."""
        text = f"{len(self.of(FOR))} for, {len(self.of(AGAINST))} against"
        text += f", {len(self.of(ABSTAIN))} abstained" if self.of(ABSTAIN) else ""
        return f"{text}; quorum {self.quorum}"


def quorum_of(message: Message) -> int:
    """How many agents must vote: as its sender set it, else most of those that it names, else 1."""
    named_to = address.named(message.to)
    return message.quorum or (len(named_to) // 2 + 1 if named_to else 1)


def ballot(letter: Letter, now: float) -> Ballot:
    """The votes on a proposal and their result at a time in seconds."""
    message = letter.message
    ends = seconds(message.at) + (message.done_within or VOTE_LASTS)
    cast = [reply for reply in letter.replies if reply.verdict in CHOICES]
    decisions = [vote for vote in cast if vote.by.is_person and vote.verdict != ABSTAIN]
    in_time = [vote for vote in cast if not vote.by.is_person and seconds(vote.at) <= ends]
    last = {vote.by: vote for vote in in_time}
    votes = tuple(sorted(last.values(), key=lambda x: (x.clock, x.clone, x.id)))
    plain = Ballot(OPEN, votes, quorum_of(message), ends)
    if decisions:
        person = decisions[-1]
        outcome = ACCEPTED if person.verdict == FOR else REJECTED
        return plain._replace(outcome=outcome, person=person, decided=seconds(person.at))
    is_full = _has_everybody(message, votes)
    if now <= ends and not is_full:
        return plain
    decided = max(seconds(vote.at) for vote in votes) if is_full else ends
    return plain._replace(outcome=_outcome(plain), decided=decided)


def is_decided(letter: Letter, now: float) -> bool:
    """Whether it is a proposal whose result is known: nobody needs to vote any more."""
    return letter.message.kind == PROPOSAL and ballot(letter, now).outcome != OPEN


def _has_everybody(message: Message, votes: Iterable[Message]) -> bool:
    if any(map(address.is_group, message.to)):
        return False  # who belongs to a group may change until the end
    return {*message.to} <= {vote.by.name for vote in votes}


def _outcome(ballot: Ballot) -> str:
    if len(ballot.votes) < ballot.quorum:
        return NO_QUORUM
    return ACCEPTED if len(ballot.of(FOR)) > len(ballot.of(AGAINST)) else REJECTED


def unheard(
    letters: Iterable[Letter], agent: str, delivered: Collection[str], since: str, now: float
) -> list[tuple[Letter, str]]:
    """The proposals whose results an agent has not got, each with the key of its result: its own,
    those that name it, and those that were decided after the time `since`."""
    results: list[tuple[Letter, str]] = []
    for letter in letters:
        message = letter.message
        if message.kind != PROPOSAL:
            continue
        result = ballot(letter, now)
        by = f"/{result.person.by.name}" if result.person else ""
        key = f"message/{message.id}/{result.outcome}{by}"
        is_its = agent in (message.by.name, *message.to) or to_text(result.decided) >= since
        if result.outcome != OPEN and is_its and key not in delivered:
            results.append((letter, key))
    return results


def sentence(letter: Letter, now: float) -> str:
    """A result as agents read it, with the reasons of those who are against it."""
    message, result = letter.message, ballot(letter, now)
    what = f"Proposal {message.name} {phrase(message.subject)} by {named(*message.by)}"
    if result.person:
        verb = f"was {result.outcome} by {named(*result.person.by)}"
    else:
        verb = "has no quorum" if result.outcome == NO_QUORUM else f"was {result.outcome}"
    lines = [f"{what} {verb}: {result.words}."]
    against = result.of(AGAINST)
    for vote in against[:REASONS_SHOWN]:
        why = f": {phrase(vote.body)}" if vote.body else ""
        lines.append(f"Against it: {named(*vote.by)}{why}.")
    if len(against) > REASONS_SHOWN:
        left = count(len(against) - REASONS_SHOWN, "other")
        lines.append(f"And {left}: `ghp agent-thread {message.name}`.")
    return "\n".join(lines)
