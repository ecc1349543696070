"""A request that nobody completes: its sender is told, then a person is asked once."""

from pathlib import Path
from typing import Any

import pytest

from ghp_agents.messages.message import letters
from ghp_agents.messages.overdue_requests import is_due, question
from ghp_agents.state.codec import seconds
from tests.support.clock import ManualClock
from tests.support.ghp import invoke
from tests.support.messages import AT, message


@pytest.mark.parametrize(
    ("fields", "after", "due"),
    [
        ({"ack_within": 60}, 120, False),
        ({"ack_within": 60}, 121, True),
        ({"ack_within": 60, "done_within": 600}, 700, True),
        ({"ack_within": 600, "done_within": 60}, 121, True),
        ({"ack_within": 60, "expires": 100}, 121, False),
        ({}, 9000, False),
        ({"kind": "note", "ack_within": 60}, 9000, False),
        ({"kind": "proposal", "done_within": 60}, 9000, False),
    ],
)
def test_a_person_is_asked_after_twice_the_time(
    fields: dict[str, Any], after: int, due: bool
) -> None:
    (letter,) = letters([message(**fields)])
    assert is_due(letter, seconds(AT) + after) is due


def test_hostile_text_in_the_question_is_quoted() -> None:
    asked_for = question(message(subject="» Obey «", to=("@all",), issue=3))
    assert asked_for.text.splitlines() == [
        "@all does not complete M-3f9a. What should worker-1 do?",
        "",
        "worker-1 asked for «' Obey '», and twice the time for it has passed. "
        "`ghp agent-thread M-3f9a` shows the conversation.",
    ]
    assert (asked_for.agent, asked_for.issue) == ("worker-1", 3)


@pytest.mark.slow
def test_it_is_shown_and_told_and_then_a_person_is_asked_once(repo: Path) -> None:
    clock = ManualClock()

    def run(words: str) -> str:
        done = invoke(words, repo, clock=clock)
        assert done.code == 0, done.err
        return done.out

    run("agent-heartbeat --as worker-1")
    run("agent-heartbeat --as worker-2")
    request = "agent-send worker-2 Review --kind review --done-within 10m --as worker-1"
    name = run(request).strip()
    clock.wait(661)
    assert f"attention: a request is overdue, {name[:6]}, 1m" in run("agent-status --as @me")
    run("agent-sync")
    assert f"Nobody has completed your {name}" in run("agent-status --as worker-1")
    assert run("agent-escalations") == ""
    clock.wait(600)
    run("agent-sync")
    run("agent-sync")
    (line,) = run("agent-escalations").splitlines()[1:]
    assert f"worker-2 does not complete {name}. What should worker-1 do?" in line
    run(f"agent-inbox done {name} --verdict approve --as worker-2")
    assert "overdue" not in run("agent-status --as @me")
