"""What an agent hears, as it changes it, and the messages that then reach it."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import UsageError
from ghp_agents.messages import subscriptions
from tests.support.messages import Post

DEFAULT = ("project_updates", "security.>")


@pytest.fixture
def one(repo: Path) -> Post:
    """worker-1."""
    return Post(repo, "worker-1")


def heard(post: Post) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return subscriptions.of(post.parts, post.ws.agent())[:2]


def test_who_never_subscribed_hears_what_the_settings_say(one: Post) -> None:
    assert subscriptions.of(one.parts, one.ws.agent()) == (DEFAULT, (), True, False, True)


def test_patterns_are_added_and_removed(one: Post) -> None:
    subscriptions.subscribe(one.parts, ["code.*"], ["code.noise"], ["project_updates"])
    assert heard(one) == (("security.>", "code.*"), ("code.noise",))
    assert heard(one.by("worker-2")) == (DEFAULT, ())
    assert not subscriptions.subscribe(one.parts, ["code.*"], [], []).is_new
    subscriptions.subscribe(one.parts, ["code.noise"], ["security.>"], [])
    assert heard(one) == (("code.*", "code.noise"), ("security.>",))


def test_who_wants_no_questions_keeps_that_until_they_want_them(one: Post) -> None:
    for wanted, expected in [(False, False), (None, False), (True, True)]:
        subscriptions.subscribe(one.parts, [f"a{wanted}".lower()], [], [], asks=wanted)
        assert subscriptions.of(one.parts, one.ws.agent()).asks is expected
    assert not subscriptions.subscribe(one.parts, [], [], [], asks=True).is_new


def test_an_isolated_agent_hears_only_what_names_it(one: Post) -> None:
    two = one.by("worker-2")
    assert subscriptions.isolate(two.parts).is_isolated
    for to in ("@all", "@project_updates"):
        payload = '{"summary": "x"}' if to != "@all" else ""
        one.send(to, subject=to, payload=payload)
    one.send("worker-2", subject="You")
    assert [x.message.subject for x in two.inbox()] == ["You"]
    subscriptions.subscribe(two.parts, [], ["noise"], ["gone"])
    assert subscriptions.of(two.parts, two.ws.agent()).is_isolated
    subscriptions.subscribe(two.parts, ["code.*"], [], ["noise"])
    assert heard(two) == (("code.*",), ())
    assert [x.message.subject for x in two.inbox()] == ["@all", "You"]


def test_a_message_to_a_topic_reaches_who_listens(one: Post) -> None:
    two, three = one.by("worker-2"), one.by("worker-3")
    subscriptions.subscribe(two.parts, ["build.*"], [], [])
    sent = one.send("@build.broken", subject="Main is red")
    assert sent.notes == ()
    assert [x.message for x in two.inbox()] == [sent.message]
    assert three.inbox() == []


def test_a_sender_hears_that_nobody_listens(one: Post) -> None:
    assert one.send("@build.broken").notes == ("No other agent listens to @build.broken now.",)


def test_a_request_to_a_topic_is_claimed_by_one(one: Post) -> None:
    workers = [one.by("worker-2"), one.by("worker-3")]
    for worker in workers:
        subscriptions.subscribe(worker.parts, ["code.review_requested"], [], [])
    name = one.send(
        "@code.review_requested", kind="review", payload='{"files": ["src/a.py"]}'
    ).message.name
    workers[0].claim(name)
    assert [x.holder for x in workers[1].inbox()] == ["worker-2"]


def test_a_capability_reaches_those_that_have_it(one: Post) -> None:
    (one.repo / ".ghp").mkdir(exist_ok=True)
    (one.repo / ".ghp/config.json").write_text('{"agents": {"capabilities": {"worker-2": ["ui"]}}}')
    two, three = one.by("worker-2"), one.by("worker-3")
    sent = one.by("worker-1").send("@capability:ui", kind="request").message
    assert [x.message for x in two.inbox()] == [sent]
    assert three.inbox() == []


@pytest.mark.parametrize("pattern", ["CODE", "a.>.b"])
def test_a_wrong_pattern_changes_nothing(one: Post, pattern: str) -> None:
    with pytest.raises(UsageError):
        subscriptions.subscribe(one.parts, [pattern], [], [])
    assert heard(one) == (DEFAULT, ())
