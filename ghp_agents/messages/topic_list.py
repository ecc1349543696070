"""The topics that are known: with a schema, described by somebody, or with messages."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from ghp_agents.core.errors import UsageError
from ghp_agents.messages import payload
from ghp_agents.messages.address import Roles
from ghp_agents.messages.message import NOTE, PROPOSAL, REVIEW, Message
from ghp_agents.messages.topics.topic import is_topic, matches

NEW_TOPIC = "meta.new_topic"
ASKS = {  # topics whose messages ask for something by themselves
    "agent.question": "question",
    "arch.proposal_ready": PROPOSAL,
    "code.review_requested": REVIEW,
}


class Topic(NamedTuple):
    """A topic that is known here."""

    name: str
    description: str = ""
    by: str = ""  # who described it; empty: this program
    messages: int = 0  # sent to it
    last: str = ""  # when the last one was sent
    last_by: str = ""  # and who sent it


def known(messages: Iterable[Message]) -> list[Topic]:
    """The topics with a schema, those that somebody described, and those with messages."""
    topics = {name: Topic(name, shape.description) for name, shape in payload.SHAPES.items()}
    for message in messages:
        for name in (to[1:] for to in message.to if is_topic(to)):
            was = topics.get(name, Topic(name))
            topics[name] = was._replace(
                messages=was.messages + 1, last=message.at, last_by=message.by.name
            )
            if name == NEW_TOPIC:
                _describe(topics, message)
    return [topics[name] for name in sorted(topics)]


def undecided(topics: Iterable[Topic], roles: Roles) -> list[Topic]:
    """The topics in use, or described by somebody, that an agent neither hears nor ignores."""
    patterns = (*roles.listens, *roles.ignores)
    return [
        topic
        for topic in topics
        if (topic.messages or topic.by) and topic.name != NEW_TOPIC
        and not any(matches(pattern, topic.name) for pattern in patterns)
    ]  # fmt: skip


def _describe(topics: dict[str, Topic], message: Message) -> None:
    """Note the description of a topic. The first one counts, and none changes a built-in one."""
    name, _, text = message.subject.partition(": ")
    was = topics.get(name, Topic(name))
    if is_topic(f"@{name}") and not was.description:
        topics[name] = was._replace(description=text, by=message.by.name)


def kind_for(to: Iterable[str]) -> str:
    """The kind of a message to these recipients, if its sender names none."""
    return next((ASKS[name[1:]] for name in to if name[1:] in ASKS and is_topic(name)), NOTE)


def checked_payload(topic: str, value: Any) -> None:
    """Check the payload of a message to a topic that has a schema. Raises UsageError."""
    shape = payload.SHAPES.get(topic)
    if shape is None:
        return
    if value is None:
        raise UsageError(
            f"Messages to {topic} need a payload.",
            hint=f"Give it as JSON: --payload '{payload.example(shape.type)}'",
        )
    wrong = payload.problem(shape.type, value) or payload.version_problem(value)
    if wrong:
        raise UsageError(
            f"The payload does not fit {topic}: {wrong}.",
            hint=f"`ghp agent-topic describe {topic}` lists its fields.",
        )
