"""Messages, as JSON."""

from typing import Any, TypedDict


class MessageJson(TypedDict):
    """A message or a reply, with its body where one message is shown."""

    id: str
    kind: str
    sender: str
    person: bool
    to: list[str]
    subject: str
    body: str
    at: str
    about: str | None
    issue: int | None
    urgency: str
    pull: int | None
    commit: str | None
    verdict: str | None
    orAgent: str | None
    artifacts: list[str]
    metadata: dict[str, Any]


class LetterJson(MessageJson):
    """A message with what became of it."""

    state: str
    holder: str | None
    overdue: str | None
    replies: list[MessageJson]


class VoteJson(TypedDict):
    """One vote on a proposal."""

    by: str
    person: bool
    vote: str
    reason: str
    at: str


class VotesJson(TypedDict):
    """A proposal and the votes that count."""

    id: str
    subject: str
    outcome: str
    votesFor: int
    votesAgainst: int
    abstained: int
    quorum: int
    ends: str
    decidedBy: str | None
    votes: list[VoteJson]


class TopicJson(TypedDict):
    """A topic of messages."""

    topic: str
    description: str
    messages: int
    last: str | None
    hasSchema: bool


class SubscribedJson(TypedDict):
    """Which topics an agent hears."""

    agent: str
    listens: list[str]
    ignores: list[str]
    isolated: bool
    isDefault: bool
    asks: bool
