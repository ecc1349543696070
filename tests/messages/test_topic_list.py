"""The list of topics: built in, described, and in use; and the payloads that they ask for."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import Actor
from ghp_agents.messages.address import Roles
from ghp_agents.messages.payload import SHAPES
from ghp_agents.messages.topic_list import Topic, known, undecided
from tests.support.messages import AT, Post, message


def test_topics_are_built_in_described_or_in_use() -> None:
    used = message("aa", to=("@build.broken",), kind="note")
    described = message("bb", to=("@meta.new_topic",), subject="build.broken: Main does not build")
    again = message("cc", to=("@meta.new_topic",), subject="build.broken: Mine", by=Actor("w2"))
    built_in = message("dd", to=("@meta.new_topic",), subject="code.completed: Mine")
    hostile = message("ee", to=("@meta.new_topic",), subject="../x: y")
    topics = {x.name: x for x in known([used, described, again, built_in, hostile])}
    assert topics.keys() == {*SHAPES, "build.broken"}
    assert topics["build.broken"] == Topic(
        "build.broken", "Main does not build", "worker-1", 1, AT, "worker-1"
    )
    assert topics["code.completed"].description == SHAPES["code.completed"].description


def test_a_topic_is_undecided_until_an_agent_hears_or_ignores_it() -> None:
    described = message("bb", to=("@meta.new_topic",), subject="build.slow: The build is slow")
    used = known([message("aa", to=("@build.broken",), kind="note"), described])
    for roles, expected in [
        (Roles("worker-1"), ["build.broken", "build.slow"]),
        (Roles("worker-1", listens=("build.*",)), []),
        (Roles("worker-1", ignores=("build.broken",)), ["build.slow"]),
        (Roles("worker-1", ignores=(">",)), []),
        (Roles("worker-1", listens=("code.>",)), ["build.broken", "build.slow"]),
    ]:
        assert [x.name for x in undecided(used, roles)] == expected


@pytest.mark.parametrize(
    ("payload", "error"),
    [
        ("", "Messages to project_updates need a payload."),
        ("{", "The payload is not JSON:"),
        ("[]", "The payload does not fit project_updates: it is not an object."),
        ("{}", "The payload does not fit project_updates: it lacks summary."),
        (
            '{"summary": "x", "schemaVersion": 2}',
            "The payload does not fit project_updates: its schemaVersion is not 1, the one",
        ),
        (
            '{"summary": "x", "schemaVersion": true}',
            "The payload does not fit project_updates: its",
        ),
        ("[" * 100_000, "The payload is not JSON:"),
    ],
)
def test_a_message_to_a_typed_topic_needs_its_payload(repo: Path, payload: str, error: str) -> None:
    post = Post(repo, "worker-1")
    with pytest.raises(UsageError) as refused:
        post.send("@project_updates", payload=payload)
    assert str(refused.value).startswith(error)
    assert refused.value.hint


def test_a_payload_is_the_body_and_marked_as_json(repo: Path) -> None:
    post = Post(repo, "worker-1")
    sent = post.send("@project_updates", payload='{"summary": "é", "schemaVersion": 1}').message
    assert sent.is_payload
    assert sent.body == '{\n  "summary": "é",\n  "schemaVersion": 1\n}'
    with pytest.raises(UsageError, match="A payload is the body"):
        post.send("@project_updates", payload='{"summary": "x"}', body="x")
