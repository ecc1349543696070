"""Votes as text and as JSON."""

from typing import TYPE_CHECKING

from ghp_agents.cli import output
from ghp_agents.core.clock import to_text
from ghp_agents.hotpath.quoting import clean, indented, named, phrase, who
from ghp_agents.messages.vote import OPEN
from ghp_agents.messages.voting import Voted

if TYPE_CHECKING:
    from ghp_agents.cli.outputs.message import VotesJson


def state(voted: Voted) -> str:
    """The numbers and the state of a vote in one line."""
    ballot = voted.ballot
    if ballot.outcome == OPEN:
        return f"Open until {output.when(to_text(ballot.ends))}: {ballot.words}."
    by = f" by {named(*ballot.person.by)}" if ballot.person else ""
    return f"{ballot.outcome.capitalize()}{by}: {ballot.words}."


def page(voted: Voted) -> str:
    """A proposal with all votes that count; what others wrote is quoted."""
    message, ballot = voted.letter.message, voted.ballot
    lines = [f"{message.name} {phrase(message.subject, 200)} by {who(*message.by)}", state(voted)]
    for vote in (*ballot.votes, *((ballot.person,) if ballot.person else ())):
        lines.append(f"{who(*vote.by)}: {vote.verdict}")
        lines += [indented(clean(vote.body))] if vote.body else []
    return "\n".join(lines)


def as_json(voted: Voted) -> "VotesJson":
    """A proposal and its votes as JSON."""
    message, ballot = voted.letter.message, voted.ballot
    person = ballot.person
    return {
        "id": message.name,
        "subject": message.subject,
        "outcome": ballot.outcome,
        "votesFor": len(ballot.of("for")),
        "votesAgainst": len(ballot.of("against")),
        "abstained": len(ballot.of("abstain")),
        "quorum": ballot.quorum,
        "ends": to_text(ballot.ends),
        "decidedBy": person.by.name if person else None,
        "votes": [
            {"by": vote.by.name, "person": vote.by.is_person, "vote": vote.verdict,
             "reason": vote.body, "at": vote.at}
            for vote in (*ballot.votes, *((person,) if person else ()))
        ],
    }  # fmt: skip
