"""What an agent has not heard; the texts of it are tested with the service."""

from pathlib import Path

import pytest

from ghp_agents.messages import undelivered
from ghp_agents.messages.undelivered import Undelivered
from tests.support.messages import Post


@pytest.fixture
def one(repo: Path) -> Post:
    return Post(repo, "worker-1")


def found(agent: Post) -> Undelivered:
    return undelivered.find(agent.parts, agent.store.snapshot(), agent.ws.agent())


def test_nothing_is_found_where_nobody_sent_anything(one: Post) -> None:
    assert found(one) == Undelivered()


def test_messages_come_oldest_first_and_what_is_overdue_beside_them(one: Post) -> None:
    two = one.by("worker-2")
    for subject in ("First", "Second"):
        one.send("worker-2", subject=subject)
    name = two.send("worker-1", kind="request", ack_within=60).message.name
    one.clock.wait(61)
    assert [message.subject for message in found(two).messages] == ["First", "Second"]
    assert [key for _, key in found(two).overdue] == [f"message/{name[2:]}/ack"]


def test_what_is_not_urgent_enough_waits_in_the_inbox(one: Post) -> None:
    (one.repo / ".ghp").mkdir(exist_ok=True)
    (one.repo / ".ghp/config.json").write_text('{"agents": {"notify": "high"}}')
    for urgency in ("normal", "critical"):
        one.send("worker-2", subject=urgency, urgency=urgency)
    assert [message.subject for message in found(one.by("worker-2")).messages] == ["critical"]
