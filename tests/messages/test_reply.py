"""Replies: a request is claimed and completed by those who were asked, and its sender hears it."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from tests.support.messages import Post


@pytest.fixture
def one(repo: Path) -> Post:
    """worker-1."""
    return Post(repo, "worker-1")


@pytest.fixture
def two(one: Post) -> Post:
    """worker-2 at the same place."""
    return one.by("worker-2")


def test_a_second_completion_that_says_more_is_refused_and_not_dropped(
    one: Post, two: Post
) -> None:
    name = one.send("worker-2", kind="request").message.name
    two.done(name)
    with pytest.raises(RefusedError, match="is resolved already"):
        two.done(name, artifacts=["src/a.py"])


def test_a_request_is_claimed_and_completed_and_its_sender_hears_both(one: Post, two: Post) -> None:
    name = one.send("worker-2", kind="request").message.name
    assert two.claim(name).is_new
    assert not two.claim(name).is_new
    assert two.states() == [("Review it", "claimed")]
    done = two.done(name, "All good.", artifacts=["src/a.py"])
    assert done.is_new
    assert not two.done(name, "All good.", artifacts=["src/a.py"]).is_new
    assert two.states() == [("Review it", "resolved")]
    assert [reply.about for reply in done.letter.replies] == [name[2:], name[2:]]
    assert one.unread() == [
        f"agent worker-2 has begun with your {name} «Review it».",
        f"agent worker-2 has done your {name} «Review it»:\n> All good.\nArtifacts: src/a.py.",
    ]


def test_what_is_over_is_not_completed_otherwise(one: Post, two: Post) -> None:
    name = one.send("worker-2", kind="request").message.name
    two.fail(name)
    with pytest.raises(RefusedError, match=f"{name} is failed already") as refused:
        two.done(name, "After all.")
    assert refused.value.hint == (f"To reply: `ghp agent-send worker-1 SUBJECT --reply-to {name}`.")


def test_only_who_was_asked_replies(one: Post, two: Post) -> None:
    name = one.send("worker-2", kind="request").message.name
    with pytest.raises(RefusedError, match="was not sent to worker-3"):
        one.by("worker-3").claim(name)
    with pytest.raises(RefusedError, match="was not sent to worker-1"):
        one.done(name)
    note = one.send("worker-2", subject="FYI").message.name
    with pytest.raises(RefusedError, match="is a note: it asks for nothing"):
        two.done(note)
