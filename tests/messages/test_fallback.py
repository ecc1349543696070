"""A request for which its sender named another agent: exactly one of the two does it."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError, UsageError
from ghp_agents.core.ids import Actor
from ghp_agents.messages.fallback import is_due
from ghp_agents.messages.message import Message, letters
from ghp_agents.state.codec import seconds
from tests.support.clock import ManualClock
from tests.support.ghp import invoke
from tests.support.messages import AT, Post, message

Clones = Callable[[int], list[Path]]
ASKED = message(or_agent="worker-3", ack_within=600)


def reply(by: str, kind: str = "ack") -> Message:
    return message("aa", by=Actor(by), kind=kind, about=ASKED.id, claim=1, clock=2)


@pytest.mark.parametrize(
    ("replies", "living", "after", "due"),
    [
        ([], {"worker-2"}, 600, False),
        ([], {"worker-2"}, 601, True),
        ([], set(), 0, True),
        ([reply("worker-2")], {"worker-2"}, 9000, False),
        ([reply("worker-3")], {"worker-2"}, 0, True),
    ],
)
def test_it_is_due_when_the_recipient_is_absent_or_does_not_begin(
    replies: list[Message], living: set[str], after: int, due: bool
) -> None:
    (letter,) = letters([ASKED, *replies])
    assert is_due(letter, "worker-3", living, seconds(AT) + after) is due


@pytest.fixture
def one(repo: Path) -> Post:
    """worker-1; worker-2 and worker-3 are at the same place."""
    post = Post(repo, "worker-1")
    post.by("worker-2")
    post.by("worker-3")
    return post


def test_the_other_agent_gets_it_when_the_recipient_does_not_begin(one: Post) -> None:
    two, three = one.by("worker-2"), one.by("worker-3")
    sent = one.send("worker-2", kind="request", or_agent="worker-3", ack_within=600)
    assert sent.notes == ()
    assert (two.states(), three.states()) == ([("Review it", "new")], [])
    with pytest.raises(RefusedError, match="was not sent to worker-3"):
        three.claim(sent.message.name)
    one.clock.wait(601)
    (news,) = one.by("worker-3").unread()
    assert f"{sent.message.name} to worker-2, or else to worker-3, by agent worker-1" in news
    one.by("worker-3").claim(sent.message.name)
    with pytest.raises(RefusedError, match="worker-3 has claimed"):
        one.by("worker-2").claim(sent.message.name)
    one.by("worker-3").done(sent.message.name, "Fine")
    assert one.by("worker-3").states() == [("Review it", "resolved")]


def test_who_begins_first_does_it(one: Post) -> None:
    name = one.send("worker-2", kind="request", or_agent="worker-3", ack_within=600).message.name
    one.by("worker-2").claim(name)
    one.clock.wait(601)
    assert one.by("worker-3").states() == []


def test_for_an_unknown_or_stopped_recipient_the_other_agent_has_it_at_once(one: Post) -> None:
    sent = one.send("worker-9", kind="request", or_agent="worker-3")
    assert sent.notes == ("There is no agent worker-9 yet. worker-3 gets the message now.",)
    assert one.by("worker-3").states() == [("Review it", "new")]


@pytest.mark.parametrize(
    ("to", "fields", "error"),
    [
        (("worker-2",), {"or_agent": "worker-3"}, "A note has no other agent"),
        (("worker-2",), {"or_agent": "@all", "kind": "request"}, "is not a valid agent name"),
        (("worker-2",), {"or_agent": "worker-2", "kind": "request"}, "--or-agent names the agent"),
        (("a", "b"), {"or_agent": "worker-2", "kind": "request"}, "--or-agent names the agent"),
    ],
)
def test_only_a_request_to_one_recipient_has_another_agent(
    one: Post, to: tuple[str, ...], fields: dict[str, str], error: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(error)):
        one.send(*to, **fields)


@pytest.mark.slow
def test_in_two_clones_the_other_agent_does_it_while_the_recipient_is_offline(
    clones: Clones,
) -> None:
    here, other = clones(2)
    clock = ManualClock()

    def run(folder: Path, words: str) -> str:
        done = invoke(words, folder, clock=clock)
        assert done.code == 0, done.err
        return done.out

    run(here, "agent-heartbeat --as worker-1")
    run(other, "agent-heartbeat --as worker-2")
    for folder in (here, other, here):
        run(folder, "agent-sync")
    options = "--kind request --or-agent worker-3 --ack-within 10m"
    name = run(here, f"agent-send worker-2 Look {options} --as worker-1").strip()
    assert run(here, "agent-inbox --as worker-3") == ""
    clock.wait(601)
    assert name[:6] in run(here, "agent-inbox --as worker-3")
    run(here, f"agent-inbox done {name} --as worker-3 --result Done")
    for folder in (here, other, here):
        run(folder, "agent-sync")
    late = invoke(f"agent-inbox claim {name} --as worker-2", other, clock=clock)
    assert (late.code, late.err.splitlines()[0]) == (3, f"Error: {name} is resolved already.")
    assert "agent worker-3 has done your" in run(here, "agent-status --as worker-1")
