"""A message between agents, its replies, and its state.

An acknowledgement and a completion are messages, too: their `about` is the id of the request. The
state of a request is computed from them; nothing is stored twice.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from ghp_agents.core.ids import Actor, CloneId, Timestamp, digest, only_match
from ghp_agents.core.metadata import NO_METADATA, Metadata
from ghp_agents.messages import address
from ghp_agents.messages.address import Roles
from ghp_agents.settings import rights
from ghp_agents.state.codec import order, seconds

NOTE, REVIEW, PROPOSAL, COMMAND = "note", "review", "proposal", "command"
ACK, DONE, FAILED, VOTE = "ack", "done", "failed", "vote"
KINDS = (NOTE, "request", "question", REVIEW, "context", PROPOSAL, COMMAND)
OUTCOMES = (DONE, FAILED)
REPLIES = (ACK, *OUTCOMES, VOTE)
VERDICTS = {"approve": "has approved", "request-changes": "requests changes to"}  # of a review
VOTE_LASTS = 86_400  # seconds, if the sender of a proposal sets no time
URGENCIES = ("low", "normal", "high", "critical")
DEFAULT_URGENCY = "normal"
NEW, CLAIMED, RESOLVED = "new", "claimed", "resolved"
STATES = (NEW, CLAIMED, RESOLVED, FAILED)


class Message(NamedTuple):
    """One message: it is written once and never changes."""

    id: str
    by: Actor
    to: tuple[str, ...]
    subject: str
    at: Timestamp
    clock: int
    clone: CloneId
    body: str = ""
    kind: str = NOTE
    about: str = ""  # the id of the message that it answers
    urgency: str = DEFAULT_URGENCY
    issue: int | None = None
    ack_within: int = 0  # seconds after `at`; 0: any time
    done_within: int = 0
    expires: int = 0
    pull: int = 0  # the pull request to review, or that was reviewed
    commit: str = ""  # its commit
    verdict: str = ""  # of a review or a vote
    quorum: int = 0  # of a proposal
    or_agent: str = ""  # who does it if its recipients do not begin
    artifacts: tuple[str, ...] = ()  # paths, commits, URLs
    claim: int = 0  # of a reply: the generation of the lock under which its author works
    is_payload: bool = False  # whether the body is JSON, in the shape of its topic
    workflow: str = ""  # the one that it starts, or that it is a step of
    step: str = ""  # of that workflow; empty: it starts it
    metadata: Metadata = NO_METADATA  # last, so that `identity` can leave it out

    @property
    def name(self) -> str:
        """The displayed id."""
        return f"M-{self.id}"

    @property
    def event(self) -> str:
        """The ledger's name for it."""
        return self.kind if self.kind in REPLIES else "send"

    @property
    def wants_work(self) -> bool:
        """Whether somebody is asked to do something."""
        return self.kind in KINDS and self.kind != NOTE

    @property
    def is_shared(self) -> bool:
        """Whether exactly one of a group does what is asked: it claims the message by a lock."""
        if not self.wants_work or self.kind == PROPOSAL:
            return False
        return bool(self.or_agent) or any(map(address.is_group, self.to))


class Letter(NamedTuple):
    """A message with the replies that count."""

    message: Message
    replies: tuple[Message, ...] = ()

    @property
    def state(self) -> str:
        """The state of the whole request: of several agents, the state that is least far."""
        message = self.message
        if not message.wants_work:
            return RESOLVED
        if message.is_shared:
            return _state(self._of_claim())
        if message.kind == PROPOSAL:
            return CLAIMED if self.replies else NEW
        states = [self.state_of(name) for name in address.named(message.to)]
        return min(states, key=STATES.index)

    def state_of(self, agent: str) -> str:
        """The state of the request with one agent."""
        if not self.message.wants_work:
            return RESOLVED
        replies = self._of_claim() if self.message.is_shared else self.replies
        return _state([reply for reply in replies if reply.by == Actor(agent)])

    @property
    def holder(self) -> str:
        """Who claimed a message that was sent to a group; empty if nobody did."""
        replies = self._of_claim() if self.message.is_shared else []
        return replies[0].by.name if replies else ""

    @property
    def result(self) -> Message | None:
        """The last completion."""
        ends = [reply for reply in self.replies if reply.kind in OUTCOMES]
        return ends[-1] if ends else None

    def is_late(self, now: float) -> str:
        """What is overdue at a time in seconds: `ack`, `done`, or empty."""
        message, state = self.message, self.state
        if message.kind == PROPOSAL:
            return ""  # its end is the end of the vote
        age = now - seconds(message.at)
        if message.done_within and state in (NEW, CLAIMED) and age > message.done_within:
            return DONE
        return ACK if message.ack_within and state == NEW and age > message.ack_within else ""

    def is_over(self, now: float) -> bool:
        """Whether it has expired, so that nobody needs to read it."""
        message = self.message
        if message.kind == PROPOSAL:
            return now - seconds(message.at) > (message.done_within or VOTE_LASTS)
        return bool(message.expires) and now - seconds(message.at) > message.expires

    def _of_claim(self) -> list[Message]:
        """The replies under the newest claim: those of an agent that lost it do not count."""
        newest = max((reply.claim for reply in self.replies), default=0)
        return [reply for reply in self.replies if reply.claim == newest]


def _state(replies: Sequence[Message]) -> str:
    if not replies:
        return NEW
    ends = [reply.kind for reply in replies if reply.kind != ACK]
    if not ends:
        return CLAIMED
    return FAILED if ends[0] == FAILED else RESOLVED  # the first one: a second is a repetition


def identity(message: Message, times: int) -> str:
    """The id of a message of which its sender sent `times` equal ones before in this clone."""
    fields = [*message._replace(id="", at=Timestamp(""), clock=0)]
    given = fields if message.metadata else fields[:-1]  # ids of messages without any stay
    return digest(json.dumps([*given, times]))


def letters(messages: Iterable[Message], orchestrators: Collection[str] = ()) -> list[Letter]:
    """The messages except replies, oldest first, each with the replies that count.

    A command counts only if a person or an orchestrator sent it.
    """
    ordered = sorted(messages, key=order)
    replies: dict[str, list[Message]] = {}
    for message in ordered:
        if message.kind in REPLIES:
            replies.setdefault(message.about, []).append(message)
    return [
        Letter(message, tuple(x for x in replies.get(message.id, ()) if _counts(message, x)))
        for message in ordered
        if message.kind in KINDS
        and (message.kind != COMMAND or rights.may_command(message.by, orchestrators))
    ]


def _counts(message: Message, reply: Message) -> bool:
    """Whether a reply is by somebody who was asked. A group's member proves it by its claim."""
    if (message.kind == PROPOSAL) != (reply.kind == VOTE):
        return False
    if message.kind == PROPOSAL:
        is_asked = reply.by.name in message.to or any(map(address.is_group, message.to))
        return rights.may_vote(reply.by, is_asked=is_asked)
    if message.is_shared:
        return reply.claim > 0
    return reply.by.name in message.to and not reply.by.is_person


def inbox(letters: Iterable[Letter], roles: Roles) -> list[Letter]:
    """The letters to an agent. What it sent to its own group is not for itself."""
    return [
        letter
        for letter in letters
        if address.reaches(letter.message.to, roles)
        and (letter.message.by != Actor(roles.name) or roles.name in letter.message.to)
    ]


def outbox(letters: Iterable[Letter], by: Actor) -> list[Letter]:
    """The letters that somebody sent."""
    return [letter for letter in letters if letter.message.by == by]


def thread(messages: Iterable[Message], of: Message) -> list[Message]:
    """The conversation of a message, oldest first: all that it answers and that answers it."""
    by_id = {message.id: message for message in messages}
    root = of
    passed = {of.id}
    while root.about in by_id and root.about not in passed:
        root = by_id[root.about]
        passed.add(root.id)
    members = {root.id}
    for message in sorted(by_id.values(), key=order):  # a reply follows what it answers
        if message.about in members:
            members.add(message.id)
    return sorted((message for message in by_id.values() if message.id in members), key=order)


def rounds(messages: Iterable[Message], of: Message, by: Actor) -> int:
    """How often somebody wrote in the conversation of a message since a person last did."""
    conversation = thread(messages, of)
    last = max((n for n, message in enumerate(conversation) if message.by.is_person), default=-1)
    return sum(
        1 for message in conversation[last + 1 :] if message.by == by and message.kind in KINDS
    )


def find(messages: Sequence[Message], reference: str) -> Message:
    """The message whose id begins with `reference`: `M-3f9a`, `3f9a`.

    Raises NotFoundError, or UsageError when several match.
    """
    prefix = reference.strip().lower().removeprefix("m-")
    matches = [message for message in messages if prefix and message.id.startswith(prefix)]
    exact = [match for match in matches if match.id == prefix]
    return only_match(
        exact or matches, reference, "message", lambda x: f"{x.name} ({x.subject[:30]})",
        "`ghp agent-inbox` lists your messages; `ghp agent-sync` fetches those of other clones.",
    )  # fmt: skip


def by_need(letters: Iterable[Letter], agent: str) -> list[Letter]:
    """The letters by need: open requests to an agent first, by urgency; then the rest by age."""

    def need(letter: Letter) -> tuple[bool, int, tuple[int, str, str]]:
        is_open = letter.state_of(agent) in (NEW, CLAIMED)
        urgency = URGENCIES.index(letter.message.urgency) if is_open else 0
        return not is_open, -urgency, order(letter.message)

    return sorted(letters, key=need)
