"""Messages as news for an agent: bounded, quoted, and with the command that comes next."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from ghp_agents.core.clock import to_text
from ghp_agents.core.ids import count, listed
from ghp_agents.hotpath.quoting import clean, cut, file, indented, phrase, who
from ghp_agents.messages import address
from ghp_agents.messages.message import (
    ACK,
    COMMAND,
    DONE,
    NEW,
    NOTE,
    PROPOSAL,
    REVIEW,
    URGENCIES,
    VERDICTS,
    VOTE,
    VOTE_LASTS,
    Letter,
    Message,
)
from ghp_agents.messages.topics.topic import is_topic
from ghp_agents.state.codec import order, seconds
from ghp_agents.state.events import WAKE, kind_of

LIMIT = 1_500  # characters of all messages in one step
BODY_SHOWN = 600  # characters of one body
ARTIFACTS_SHOWN = 5
FEW = 3  # notes to one topic that are all shown
KEY = "message/"  # before the id, in the list of what an agent was told


def key_of(message: Message) -> str:
    """What an agent's list of delivered news calls a message."""
    return f"{KEY}{message.id}"


def unread(
    letters: Sequence[Letter],
    mine: Sequence[Letter],
    agent: str,
    delivered: Collection[str],
    since: str,
) -> list[Message]:
    """What an agent has not heard, oldest first: messages to it, and replies to its own.

    `letters` are those to the agent, `mine` those that it sent. A note to a group concerns those
    who were at work then: after the time `since`.
    """
    messages = [letter.message for letter in letters if _concerns(letter, agent, since)]
    messages += [reply for letter in mine for reply in letter.replies if reply.kind != VOTE]
    return sorted((message for message in messages if key_of(message) not in delivered), key=order)


def _concerns(letter: Letter, agent: str, since: str) -> bool:
    message = letter.message
    if not message.wants_work:
        return agent in message.to or message.at >= since
    state = letter.state if message.is_shared else letter.state_of(agent)
    return state == NEW


def wakes(message: Message) -> bool:
    """Whether a resting agent should hear of a message now: it asks for work, is the result of a
    request, answers one, or is urgent."""
    return WAKE in kind_of(message.event).reach and (
        message.wants_work or bool(message.about) or message.urgency in URGENCIES[2:]
    )


def overdue(
    mine: Iterable[Letter], delivered: Collection[str], now: float
) -> list[tuple[str, str]]:
    """The sentences for the sender of requests whose times have passed, each with its key."""
    sentences: list[tuple[str, str]] = []
    for letter in mine:
        late, message = letter.is_late(now), letter.message
        key = f"{key_of(message)}/{late}"
        if late and key not in delivered and not letter.is_over(now):
            verb = "begun with" if late == ACK else "completed"
            to, again = ", ".join(message.to), "Ask another agent, or a person"
            text = (
                f"Nobody has {verb} your {message.name} {phrase(message.subject)} to {to} in time."
            )
            sentences.append((f"{text} {again}: `ghp agent-escalate QUESTION`.", key))
    return sentences


class Folded(NamedTuple):
    """A message, and the earlier notes to its topic that it stands for."""

    message: Message
    earlier: tuple[Message, ...] = ()

    @property
    def words(self) -> str:
        """The sentence on the earlier notes; empty without one."""
        topic = topic_of(self.message)
        shows = f"`ghp agent-inbox list --topic {topic}`"
        return f"{count(len(self.earlier), 'more note')} in {topic}: {shows}." * bool(self.earlier)


def fold(messages: Sequence[Message]) -> list[Folded]:
    """The messages, oldest first as they are given: more than `FEW` notes to one topic as one."""
    by_topic: dict[str, list[Message]] = {}
    for message in messages:
        by_topic.setdefault(topic_of(message), []).append(message)
    folded: list[Folded] = []
    for message in messages:
        notes = by_topic[topic_of(message)] if topic_of(message) else []
        if len(notes) <= FEW:
            folded.append(Folded(message))
        elif message is notes[-1]:
            folded.append(Folded(message, tuple(notes[:-1])))
    return folded


def topic_of(message: Message) -> str:
    """The topic of a note that can be folded; empty if it names an agent, answers or is urgent."""
    is_plain = message.kind == NOTE and not message.about and message.urgency not in URGENCIES[2:]
    return message.to[0][1:] if is_plain and all(map(is_topic, message.to)) else ""


def texts(messages: Iterable[Folded], count_all: int) -> list[tuple[str, str]]:
    """The first messages that fit, each with its key, and how many more there are. A notice that
    stands for earlier messages is followed by their keys."""
    room, shown = LIMIT, list[tuple[str, str]]()
    for message in messages:
        text = "\n".join(filter(None, (bounded_words(message.message), message.words)))
        room -= len(text) + 1
        if room < 0 and shown:
            break
        shown.append((text, key_of(message.message)))
        shown += [("", key_of(earlier)) for earlier in message.earlier]
    left = count_all - len(shown)
    if left:
        shown.append((f"{count(left, 'more message')} for you: `ghp agent-inbox`.", ""))
    return shown


def bounded_words(message: Message) -> str:
    """One message as an agent reads it in its session, in at most LIMIT characters."""
    return cut(words(message), LIMIT, f"`ghp agent-inbox read {message.name}`")


def words(message: Message) -> str:
    """One message as an agent reads it in its session."""
    by, about = who(message.by.name, message.by.is_person), f"M-{message.about}"
    subject = phrase(message.subject)
    if message.kind == ACK:
        return f"{by} has begun with your {about} {subject}."
    if not message.wants_work and message.kind != "note":
        verb = "has done" if message.kind == DONE else "could not do"
        if message.verdict in VERDICTS:
            of = f" #{message.pull} at {message.commit[:12]}, as asked by" if message.pull else ""
            verb = f"{VERDICTS[message.verdict]}{of}"
        return _with_body(f"{by} {verb} your {about} {subject}", message)
    issue = f" about #{message.issue}" if message.issue else ""
    if message.pull:
        issue = f"{issue}, pull request #{message.pull} at {message.commit[:12]}"
    answers = f", a reply to {about}" if message.about else ""
    group = "" if not any(map(address.is_group, message.to)) else f" to {', '.join(message.to)}"
    if message.or_agent:
        group = f" to {', '.join(message.to)}, or else to {message.or_agent},"
    first = f"{message.kind.capitalize()} {message.name}{group} by {by}{issue}{answers}: {subject}"
    return f"{_with_body(first, message)}\n{_next(message)}"


def _with_body(first: str, message: Message) -> str:
    rest = f"cut; all of it: `ghp agent-inbox read {message.name}`"
    lines = [first + (":" if message.body else ".")]
    if message.body:
        lines.append(indented(cut(clean(message.body), BODY_SHOWN, rest)))
    if message.artifacts:
        lines.append(f"Artifacts: {listed([*map(file, message.artifacts)], ARTIFACTS_SHOWN)}.")
    return "\n".join(lines)


def _next(message: Message) -> str:
    name = message.name
    if not message.wants_work:
        return "This is information only."
    if message.kind == PROPOSAL:
        ends = to_text(seconds(message.at) + (message.done_within or VOTE_LASTS))
        return (
            f"Vote until {ends}: `ghp agent-vote {name} --for`, `--against` or `--abstain`, with "
            "`--reason TEXT`."
        )
    begin = f"To begin: `ghp agent-inbox claim {name}`. At the end:"
    done, fail = f"done {name} --result TEXT", f"fail {name} --reason TEXT"
    if message.kind == REVIEW:
        done = f"done {name} --verdict approve|changes --result TEXT"
    if message.kind == "context":
        done = f"done {name} --result TEXT --excerpt PATH#L1-20"
    order = "It is a command." if message.kind == COMMAND else "It is a request, not a command."
    exclusive = " Only one agent may claim it." if message.is_shared else ""
    return f"{order}{exclusive} {begin} `ghp agent-inbox {done}`, or `ghp agent-inbox {fail}`."
