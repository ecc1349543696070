"""Addresses: agents and groups, checked before anything is sent."""

import pytest

from ghp_agents.core.errors import UsageError
from ghp_agents.messages.address import MOST, Roles, checked_all, named, reaches


def test_recipients_are_agents_and_groups_each_once() -> None:
    assert checked_all(["worker-1,@all", "worker-1", " w.2 "]) == ("worker-1", "@all", "w.2")


@pytest.mark.parametrize(
    "word",
    ["", "Worker One", "@No", "@", "-x", "a\nb", "@all\x1b[2J", "@capability:", "@capability:a b"],
)
def test_anything_else_is_refused_with_what_to_use(word: str) -> None:
    with pytest.raises(UsageError) as refused:
        checked_all([word])
    assert refused.value.hint


def test_more_recipients_than_the_limit_are_a_group() -> None:
    with pytest.raises(UsageError, match=f"at most {MOST} recipients"):
        checked_all([f"worker-{number}" for number in range(MOST + 1)])


def test_a_message_reaches_who_is_named_and_who_belongs_to_the_group() -> None:
    worker, boss = Roles("worker-1"), Roles("boss", is_orchestrator=True)
    assert reaches(("worker-1",), worker)
    assert reaches(("@all",), worker)
    assert reaches(("@orchestrator",), boss)
    assert not reaches(("@orchestrator",), worker)
    assert not reaches(("worker-2", "@unknown"), worker)


def test_topics_and_capabilities_reach_those_that_have_them() -> None:
    worker = Roles("w", capabilities=("ui",), listens=("code.*",), ignores=("code.noise",))
    assert reaches(("@capability:ui",), worker)
    assert not reaches(("@capability:db",), worker)
    assert reaches(("@code.completed",), worker)
    assert not reaches(("@code.noise",), worker)
    assert not reaches(("@all",), Roles("w", ignores=(">",)))


def test_groups_are_no_names() -> None:
    assert named(("@all", "worker-1")) == ["worker-1"]
