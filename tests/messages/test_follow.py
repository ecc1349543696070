"""An inbox that is followed: each message is handed over once, in order, and after a failure."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.escalations.delivered import mark_told
from ghp_agents.messages import voting
from ghp_agents.messages.follow import TRIES, Follower, Item
from ghp_agents.messages.news import key_of
from ghp_agents.messages.undelivered import InboxNotice
from tests.support.messages import Post


class TimeIsUpError(Exception):
    """The end of a test's time."""


def subject(item: Item) -> str:
    """What it is about, in one line."""
    return item.text.splitlines()[0] if isinstance(item, InboxNotice) else item.subject


class Reader:
    """What follows an inbox hands over. `fails` are the subjects that it cannot take."""

    def __init__(self, agent: Post) -> None:
        self.agent = agent
        self.read: list[str] = []
        self.given_up: list[str] = []
        self.fails: set[str] = set()
        self.follower = Follower(
            agent.parts, agent.ws.agent(), self._take, lambda m: self.given_up.append(subject(m))
        )

    def follow(self, seconds: int, meanwhile: Callable[[int], None] = lambda second: None) -> None:
        """Follow for a time; `meanwhile` is called each second."""
        passed = 0

        def pause(length: float) -> None:
            nonlocal passed
            self.agent.clock.wait(length)
            passed += 1
            if passed > seconds:
                raise TimeIsUpError
            meanwhile(passed)

        with pytest.raises(TimeIsUpError):
            self.follower.run(pause)

    def _take(self, item: Item) -> bool:
        self.read.append(subject(item))
        return self.read[-1] not in self.fails


@pytest.fixture
def one(repo: Path) -> Post:
    return Post(repo, "worker-1")


@pytest.fixture
def two(one: Post) -> Reader:
    return Reader(one.by("worker-2"))


def test_each_message_is_handed_over_once_as_it_comes(one: Post, two: Reader) -> None:
    one.send("worker-2", subject="Before")

    def meanwhile(second: int) -> None:
        if second == 3:
            one.send("worker-2", subject="Meanwhile", body="All of it.")
            one.send("worker-1", subject="For another")

    two.follow(40, meanwhile)
    assert two.read == ["Before", "Meanwhile"]
    assert two.agent.unread() == []


def test_who_follows_again_hears_what_came_since_and_nothing_twice(one: Post, two: Reader) -> None:
    one.send("worker-2", subject="First")
    two.follow(1)
    one.send("worker-2", subject="Second")
    again = Reader(two.agent)
    again.follow(1)
    assert (two.read, again.read) == (["First"], ["Second"])


def test_what_fails_is_tried_again_after_growing_pauses_and_the_senders_rest_waits(
    one: Post, two: Reader
) -> None:
    three = one.by("worker-3")
    two.fails = {"Bad"}
    at: list[int] = []

    def meanwhile(second: int) -> None:
        at.extend([second] * (two.read.count("Bad") - len(at)))
        if second == 2:
            one.send("worker-2", subject="Later")
            three.send("worker-2", subject="Of another")
        if second == 8:
            two.fails = set()

    one.send("worker-2", subject="Bad")
    two.follow(20, meanwhile)
    assert two.read == ["Bad", "Bad", "Of another", "Bad", "Bad", "Bad", "Later"]
    assert at == [1, 2, 4, 8, 16]
    assert two.given_up == []


def test_what_never_works_is_said_once_and_stays_in_the_inbox(one: Post, two: Reader) -> None:
    two.fails = {"Bad"}
    one.send("worker-2", subject="Bad")
    one.send("worker-2", subject="Good")
    two.follow(200)
    assert two.read == ["Bad"] * TRIES + ["Good"]
    assert two.given_up == ["Bad"]
    assert [text.partition(" by ")[2] for text in two.agent.unread()] == [
        "agent worker-1: «Bad».\nThis is information only."
    ]


def test_a_message_that_a_hook_told_meanwhile_is_not_handed_over(one: Post, two: Reader) -> None:
    first = one.send("worker-2", subject="First").message
    second = one.send("worker-2", subject="Second").message
    assert two.agent.unread()
    plain = two._take

    def take(message: Item) -> bool:
        mark_told(two.agent.ws, two.agent.ws.agent(), [key_of(second)])
        return plain(message)

    two.follower = Follower(two.agent.parts, two.agent.ws.agent(), take, lambda _: None)
    two.follow(1)
    assert two.read == [first.subject]


def test_only_one_process_follows_an_inbox(one: Post, two: Reader) -> None:
    def meanwhile(_: int) -> None:
        with pytest.raises(RefusedError, match="Another process follows the inbox of worker-2"):
            Reader(two.agent).follow(1)

    two.follow(1, meanwhile)


@pytest.mark.slow
def test_messages_of_another_clone_come_by_syncs(
    one: Post, two: Reader, clones: Callable[[int], list[Path]]
) -> None:
    here, other = clones(2)
    sender = Post(other, "worker-1")
    reader = Reader(Post(here, "worker-2", sender.clock))

    def meanwhile(second: int) -> None:
        if second == 2:
            sender.send("worker-2", subject="From afar")
            sender.parts.store.sync()

    reader.follow(60, meanwhile)
    assert reader.read == ["From afar"]


def test_following_ends_when_the_clone_is_removed(one: Post, two: Reader, repo: Path) -> None:
    two.follower.run(lambda _: shutil.rmtree(repo / ".git/ghp"))
    assert not (repo / ".git/ghp").exists()


def test_the_result_of_a_vote_and_what_is_overdue_are_handed_over_once(
    one: Post, two: Reader
) -> None:
    three = one.by("worker-3")
    proposal = one.send("worker-2", "worker-3", subject="Tabs", kind="proposal").message.name
    request = two.agent.send("worker-3", subject="Fix it", kind="request", ack_within=10).message
    two.fails = {f"Nobody has begun with your {request.name} «Fix it» to worker-3 in time. "
                 "Ask another agent, or a person: `ghp agent-escalate QUESTION`."}  # fmt: skip

    def meanwhile(second: int) -> None:
        if second == 2:
            for x in (two.agent, three):
                voting.vote(x.parts, proposal, "for")
        if second == 45:
            two.fails = set()

    two.follow(120, meanwhile)
    first, second, *late = two.read
    assert first == "Tabs"
    assert second.startswith(f"Proposal {proposal} «Tabs» by worker-1 was accepted: 2 for")
    assert (len(late), {x.partition(" in time.")[0] for x in late}) == (
        5, {f"Nobody has begun with your {request.name} «Fix it» to worker-3"},
    )  # fmt: skip
    assert two.agent.unread() == []
