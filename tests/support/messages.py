"""A place to send messages in, for tests: agents and a person in one repository."""

import os
from pathlib import Path
from typing import Any

from ghp_agents.core.ids import Actor, AgentName, CloneId, Timestamp
from ghp_agents.messages import reply, undelivered
from ghp_agents.messages import service as services
from ghp_agents.messages.message import Letter, Message
from ghp_agents.messages.reply import ReplyResult
from ghp_agents.messages.service import Draft, SendResult
from ghp_agents.presence import service as presence
from ghp_agents.wiring import App
from ghp_agents.workspace import MYSELF
from tests.support.clock import ManualClock

AT = Timestamp("2026-01-02T03:04:05Z")
CLONE = CloneId("c1")


def message(identity: str = "3f9a", **fields: Any) -> Message:
    """A request by worker-1 to worker-2, with other fields where they are given."""
    plain = Message(
        identity, Actor("worker-1"), ("worker-2",), "Review it", AT, 1, CLONE, kind="request"
    )
    return plain._replace(**fields)


class Post:
    """Somebody who sends and receives messages in a repository: an agent, or `@me`."""

    def __init__(self, repo: Path, name: str, clock: ManualClock | None = None) -> None:
        self.repo, self.clock = repo, clock or ManualClock()
        self.parts = App(repo, os.environ, name=name, clock=self.clock)
        self.ws, self.store = self.parts.ws, self.parts.store
        if name != MYSELF:
            presence.register(self.ws, self.store, AgentName(name))

    def by(self, name: str) -> "Post":
        """Somebody else at the same place."""
        return Post(self.repo, name, self.clock)

    def send(self, *to: str, subject: str = "Review it", **more: Any) -> SendResult:
        return services.send(self.parts, Draft(to, subject, **more))

    def inbox(self) -> list[Letter]:
        return services.inbox(self.parts, self.store.snapshot(), self.ws.agent())

    def states(self) -> list[tuple[str, str]]:
        """Each message in the inbox, by its subject, and its state for this agent."""
        return [(x.message.subject, x.state_of(self.ws.agent())) for x in self.inbox()]

    def claim(self, reference: str) -> ReplyResult:
        return reply.claim(self.parts, reference)

    def done(self, reference: str, text: str = "", **more: Any) -> ReplyResult:
        return reply.finish(self.parts, reference, text, fails=False, **more)

    def fail(self, reference: str, text: str = "No data") -> ReplyResult:
        return reply.finish(self.parts, reference, text, fails=True)

    def unread(self) -> list[str]:
        return [
            text
            for text, _ in undelivered.texts(self.parts, self.store.snapshot(), self.ws.agent())
            if text
        ]
