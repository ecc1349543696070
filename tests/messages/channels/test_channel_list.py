"""The channels of a repository: read once, and wrong ones are named."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import GhpError, RefusedError
from ghp_agents.core.ids import Actor
from ghp_agents.messages.channels import channel_list
from tests.support.messages import Post

SETTINGS = "channels: {general: {}, admin: {members: [worker-1, user], permissions: [user]}}"


@pytest.fixture
def post(repo: Path) -> Post:
    (repo / ".ghp").mkdir()
    (repo / channel_list.FILE).write_text(SETTINGS)
    return Post(repo, "worker-1")


def test_members_hear_a_channel_without_a_subscription(post: Post) -> None:
    two = post.by("worker-2")
    assert channel_list.heard(post.ws, ["worker-1", "worker-2"]) == {
        "worker-1": ("general", "admin"), "worker-2": ("general",),
    }  # fmt: skip
    two.send("@general", subject="Hello", kind="note")
    assert [subject for subject, _ in post.states()] == ["Hello"]


def test_who_may_not_write_is_refused(post: Post) -> None:
    with pytest.raises(RefusedError) as refused:
        post.send("@admin", subject="Hello", kind="note")
    assert str(refused.value) == "worker-1 may not write to the channel admin."
    assert refused.value.hint == "`permissions` in .ghp/channels.yaml names who may: user."
    channel_list.refuse_others(post.ws, Actor("Ada", is_person=True), ["@admin", "worker-1"])
    channel_list.refuse_others(post.ws, Actor("worker-9"), ["@general", "@elsewhere"])


def test_the_settings_are_read_again_when_they_change(post: Post) -> None:
    assert [entry.name for entry in channel_list.read(post.ws)] == ["general", "admin"]
    cached = channel_list.read(post.ws)
    assert cached == channel_list.read(post.ws)
    path = channel_list.path(post.ws)
    assert path
    path.write_text("channels: {other: {}}")
    assert [entry.name for entry in channel_list.read(post.ws)] == ["other"]
    path.write_text("channels: 1")
    assert channel_list.heard(post.ws, ["worker-1"]) == {"worker-1": ()}
    with pytest.raises(GhpError) as wrong:
        post.send("@general", subject="Hello", kind="note")
    assert str(wrong.value) == (
        ".ghp/channels.yaml cannot be used: it has no `channels:` with a name for each."
    )
    path.unlink()
    assert channel_list.read(post.ws) == []


def test_a_file_that_is_too_large_is_not_read(post: Post) -> None:
    path = channel_list.path(post.ws)
    assert path
    with path.open("wb") as file:
        file.truncate(10**10)  # a sparse file
    with pytest.raises(GhpError) as wrong:
        channel_list.read(post.ws)
    assert str(wrong.value) == (".ghp/channels.yaml cannot be used: it has more than 32000 bytes.")
