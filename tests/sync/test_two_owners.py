"""An issue has one agent: two become a question, and a person beside an agent does not."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.ghp import invoke, succeed

Clones = Callable[[int], list[Path]]


def questions(clone: Path) -> list[tuple[str, list[str]]]:
    shown = json.loads(invoke("agent-escalations --open --json", clone).out)
    return [(x["question"].splitlines()[0], x["options"]) for x in shown]


@pytest.mark.slow
def test_two_agents_are_asked_about_once_over_all_clones_until_one_is_left(clones: Clones) -> None:
    one, other = clones(2)
    succeed(one, "agent-issue new Parse", "agent-heartbeat --as worker-1")
    succeed(one, "agent-issue assign 1 worker-1 Ann --as @me", "agent-sync")
    succeed(other, "agent-heartbeat --as worker-2", "agent-sync")
    assert questions(other) == [], "a person beside an agent is nobody's fault"
    refused = invoke("agent-issue assign 1 worker-2 --as worker-2", other)
    assert (refused.code, refused.err.splitlines()[0]) == (
        3, "Error: #1 has an agent already: worker-1."
    )  # fmt: skip
    succeed(other, "agent-issue assign 1 worker-2 --as @me", "agent-sync")
    succeed(one, "agent-sync")
    asked = [("Which agent should have #1?", ["worker-1", "worker-2"])]
    assert (questions(one), questions(other)) == (asked, asked)
    succeed(one, "agent-issue assign 1 worker-2 --remove --as @me")
    assert questions(one) == []
