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
def test_two_agents_are_asked_about_once_over_all_clones_and_the_answer_decides(
    clones: Clones,
) -> None:
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
    succeed(one, "agent-claim 1 --as worker-1")
    (asked_one,) = json.loads(invoke("agent-escalations --open --json", other).out)
    succeed(other, f"agent-answer {asked_one['id']} worker-2 --as @me", "agent-sync")
    shown = json.loads(invoke("agent-issue show 1 --json", other).out)
    assert (shown["assignees"], questions(other)) == (["Ann", "worker-2"], [])
    succeed(one, "agent-sync")
    told = "worker-2 keeps #1. It is taken from worker-1."
    for clone, name in ((one, "worker-1"), (other, "worker-2")):
        heard = invoke(f"agent-resume --as {name}", clone)
        assert told in heard.out + heard.err, (name, heard)
    refused = invoke("agent-claim 1 --as worker-1", one)
    assert "#1 is claimed by worker-2" in refused.err


@pytest.mark.slow
def test_it_needs_no_answer_when_one_is_left(clones: Clones) -> None:
    (one,) = clones(1)
    succeed(one, "agent-issue new Parse", *(f"agent-heartbeat --as worker-{n}" for n in (1, 2)))
    succeed(one, "agent-issue assign 1 worker-1 worker-2 --as @me", "agent-sync")
    assert len(questions(one)) == 1
    succeed(one, "agent-issue assign 1 worker-2 --remove --as @me")
    assert questions(one) == []
