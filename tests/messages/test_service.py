"""Messages end to end in one process: sent once, claimed by one, completed, and told."""

import re
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.core.errors import NotFoundError, RefusedError, UsageError
from ghp_agents.core.ids import Actor
from ghp_agents.messages import service as services
from ghp_agents.messages.news import words
from ghp_agents.messages.texts import ARTIFACT_LIMIT, BODY_LIMIT
from tests.support.messages import Post


@pytest.fixture
def one(repo: Path) -> Post:
    """worker-1."""
    return Post(repo, "worker-1")


@pytest.fixture
def two(one: Post) -> Post:
    """worker-2 at the same place."""
    return one.by("worker-2")


def test_a_message_reaches_its_agent_and_nobody_else(one: Post, two: Post) -> None:
    sent = one.send("worker-2", body="Look\r\nat it.\n", kind="request", artifacts=["src/a.py"])
    assert (sent.is_new, sent.notes) == (True, ())
    (letter,) = two.inbox()
    assert letter.message == sent.message._replace(body="")
    message, thread = services.read(two.parts, sent.message.name)
    assert (message, thread) == (sent.message, [sent.message])
    assert message.body == "Look\nat it."
    assert one.inbox() == one.by("worker-3").inbox() == []


def test_the_same_message_right_after_the_first_is_the_first(one: Post, two: Post) -> None:
    first = one.send("worker-2")
    assert one.send("worker-2") == first._replace(is_new=False)
    one.send("worker-2", subject="Another")
    assert not one.send("worker-2").is_new
    one.clock.wait(121)
    again = one.send("worker-2")
    assert again.is_new
    assert again.message.id != first.message.id
    assert len(two.inbox()) == 3


@pytest.mark.parametrize("more", [{"artifacts": ["v2"]}, {"urgency": "critical"}, {"expires": 60}])
def test_a_message_that_differs_in_anything_is_another(
    one: Post, two: Post, more: dict[str, Any]
) -> None:
    one.send("worker-2")
    assert one.send("worker-2", **more).is_new
    assert len(two.inbox()) == 2


def test_a_request_can_be_sent_again_once_somebody_has_begun_with_it(one: Post, two: Post) -> None:
    name = one.send("worker-2", kind="request").message.name
    two.done(name)
    assert one.send("worker-2", kind="request").is_new
    assert [state for _, state in two.states()] == ["new", "resolved"]


def test_a_message_to_an_unknown_or_stopped_agent_waits_for_it(one: Post) -> None:
    sent = one.send("worker-9")
    assert sent.notes == ("There is no agent worker-9 yet. It gets the message when it starts.",)
    assert [x.message for x in one.by("worker-9").inbox()] == [sent.message]


@pytest.mark.parametrize(
    ("fields", "error", "text"),
    [
        ({"subject": " "}, UsageError, "The subject has 0 characters; it needs 1 to 200."),
        ({"subject": "x" * 201}, UsageError, "The subject has 201 characters"),
        ({"body": "x" * (BODY_LIMIT + 1)}, UsageError, f"The body has {BODY_LIMIT + 1} characters"),
        ({"artifacts": ["x"] * (ARTIFACT_LIMIT + 1)}, UsageError, "at most 50 artifacts"),
        ({"body": "key AKIA" + "ABCDEFGH12345678"}, UsageError, "an AWS key"),
        ({"reply_to": "M-ffff"}, NotFoundError, "There is no message M-ffff."),
        ({"issue": 99}, NotFoundError, "99"),
        ({"kind": "command"}, RefusedError, "Only people and orchestrators may command agents."),
    ],
)
def test_what_cannot_be_sent_is_refused_and_nothing_is_sent(
    one: Post, two: Post, fields: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=re.escape(text)):
        one.send("worker-2", **fields)
    assert two.inbox() == []


def test_a_person_may_command(one: Post, two: Post) -> None:
    one.by("@me").send("worker-2", kind="command", subject="Stop that")
    assert two.states() == [("Stop that", "new")]


def test_an_agent_hears_a_message_once_and_nothing_that_it_sent_itself(
    one: Post, two: Post
) -> None:
    sent = one.send("worker-2", kind="request", body="Please.").message
    assert two.unread() == [words(sent)]
    two.claim(sent.name)
    assert two.unread() == []
    assert len(one.unread()) == 1


def test_a_note_to_all_is_for_those_who_are_at_work(one: Post, two: Post) -> None:
    one.send("@all", subject="main is red")
    assert [text.partition("\n")[0] for text in two.unread()] == [
        f"Note {two.inbox()[0].message.name} to @all by agent worker-1: «main is red»."
    ]
    one.clock.wait(60)
    assert one.by("worker-3").unread() == []
    assert one.unread() == []


def test_an_expired_message_is_in_no_inbox(one: Post, two: Post) -> None:
    one.send("worker-2", expires=60)
    one.clock.wait(61)
    assert two.inbox() == []
    assert two.unread() == []


def test_a_message_of_a_person_and_one_of_an_agent_of_this_name_are_two(
    one: Post, two: Post
) -> None:
    person = one.by("@me")
    sent = person.send("worker-2", kind="request").message
    assert sent.by.is_person
    two.done(sent.name)
    assert one.unread() == []
    assert Actor(sent.by.name, True) == sent.by


def test_a_sender_hears_once_that_its_request_is_overdue(one: Post, two: Post) -> None:
    name = one.send("worker-2", kind="request", ack_within=60, done_within=600).message.name
    assert one.unread() == []
    one.clock.wait(61)
    assert one.unread() == [
        f"Nobody has begun with your {name} «Review it» to worker-2 in time. Ask another agent, or "
        "a person: `ghp agent-escalate QUESTION`."
    ]
    two.claim(name)
    one.clock.wait(600)
    assert [text[:31] for text in one.unread()] == [
        "Nobody has completed your " + name[:5], "agent worker-2 has begun with y"
    ]  # fmt: skip


def test_an_agent_that_sends_too_much_is_stopped_and_a_person_is_not(one: Post) -> None:
    (one.repo / ".ghp").mkdir(exist_ok=True)
    (one.repo / ".ghp/config.json").write_text('{"agents": {"messagesPerHour": 3}}')
    busy = one.by("worker-1")
    for number in range(3):
        busy.send("worker-2", subject=f"Message {number}")
    with pytest.raises(RefusedError, match="worker-1 has sent 3 messages within an hour"):
        busy.send("worker-2", subject="Message 4")
    assert not busy.send("worker-2", subject="Message 2").is_new
    person = one.by("@me")
    for number in range(4):
        person.send("worker-2", subject=f"By hand {number}")
    one.clock.wait(3_601)
    assert busy.send("worker-2", subject="Message 4").is_new


def test_a_question_is_not_done_without_an_answer(one: Post, two: Post) -> None:
    sent = one.send("worker-2", subject="Which name?", kind="question").message
    with pytest.raises(UsageError, match="asks for an answer") as refused:
        two.done(sent.name)
    assert refused.value.hint == f"Give it: `ghp agent-inbox done {sent.name} --result TEXT`."
    assert two.done(sent.name, "tokens").is_new
