"""The manager of an epic hears what happens to its parts."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.support.consent import mine
from tests.support.ghp import invoke, succeed
from tests.support.hooks import call, payload
from tests.support.news import LEAD, PERSON, hear, question, step

CLOSE = "`ghp agent-issue close {} --reason 'All parts are closed.'`."


@pytest.fixture
def here(repo: Path) -> Path:
    """The epic #1 of lead has the parts #2 and #3, and #3 has the part #4."""
    succeed(
        repo,
        "agent-init",
        *(f"agent-heartbeat --status idle --as {name}" for name in ("lead", "worker-1")),
        "agent-issue new Parser --label epic --assign lead",
        *(f"agent-issue new {title} --parent 1" for title in ("Lexer", "Docs")),
        "agent-issue new Chapter --parent 3",
    )
    hear(repo, "lead")
    return repo


LEXER = "#2 «Lexer», a part of your #1"
CASES = {
    "starts": (["agent-claim 2 --as worker-1"], [f"worker-1 started {LEXER}."]),
    "is given": (
        ["agent-claim 2 --as worker-2", "agent-release 2 --to worker-1 --as worker-2"],
        [f"worker-1 started {LEXER}."],
    ),
    "started and given back": (
        ["agent-claim 2 --as worker-1", "agent-release 2 --as worker-1"], [],
    ),
    "is blocked by an issue": (
        ["agent-issue block 2 --by 3"],
        [f"{PERSON} marked {LEXER}, as blocked by #3."],
    ),
    "blocked and unblocked": (
        ["agent-issue block 2 --by 3", "agent-issue block 2 --by 3 --remove"], [],
    ),
    "its agent is blocked": (
        [
            "agent-claim 2 --as worker-1",
            "agent-heartbeat --status blocked --action 'No `key`»' --as worker-1",
            "agent-sync",
        ],
        [f"worker-1 started {LEXER}.", f"worker-1 is blocked on {LEXER}: «No 'key''»."],
    ),
    "is done": (["agent-issue close 2"], [f"{PERSON} closed {LEXER}."]),
    "a part of a part is done": (
        ["agent-issue close 4"],
        [
            f"{PERSON} closed #4 «Chapter», a part of your #1.",
            f"The only part of #3 «Docs» is closed. If it is done: {CLOSE.format(3)}",
        ],
    ),
    "all are done": (
        ["agent-issue close 2", "agent-issue close 3"],
        [
            f"{PERSON} closed {LEXER}.",
            f"{PERSON} closed #3 «Docs», a part of your #1.",
            f"All 2 parts of #1 «Parser» are closed. If it is done: {CLOSE.format(1)}",
        ],
    ),
    "reopened at once": (["agent-issue close 2", "agent-issue reopen 2"], []),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "heard"), CASES.values(), ids=CASES)
@pytest.mark.slow
def test_the_manager_hears_of_a_part_once(
    here: Path, lines: Sequence[str], heard: list[str]
) -> None:
    succeed(here, *lines)
    assert hear(here, "lead") == heard
    assert hear(here, "lead") == []


@pytest.mark.slow
def test_a_question_about_a_part_reaches_the_manager(here: Path) -> None:
    succeed(here, "agent-escalate 'Which token?' --issue 2 --as worker-1")
    name = question(here)
    assert hear(here, "lead") == [
        f"worker-1 asks about {LEXER}: «Which token?» `ghp agent-escalations {name}` shows all."
    ]


@pytest.mark.slow
def test_an_orchestrator_manages_what_nobody_is_assigned_to_and_hears_a_question_once(
    here: Path,
) -> None:
    mine({"agents": {"orchestrators": ["boss"]}})
    succeed(here, "agent-heartbeat --status idle --as boss", "agent-claim 2 --as worker-1")
    assert hear(here, "boss") == []
    succeed(
        here,
        "agent-issue assign 1 lead --remove",
        "agent-escalate 'Which token?' --issue 2 --as worker-1",
        "agent-issue close 4",
    )
    assert hear(here, "boss") == [
        f"worker-1 asks: «Which token?» Decide with `ghp agent-answer {question(here)} TEXT`.",
        f"{PERSON} closed #4 «Chapter», a part of your #3.",
        f"The only part of #3 «Docs» is closed. If it is done: {CLOSE.format(3)}",
    ]


@pytest.mark.slow
def test_of_what_the_manager_does_itself_it_hears_nothing(here: Path) -> None:
    succeed(
        here,
        "agent-claim 2 --as lead",
        "agent-issue block 3 --by 2 --as lead",
        "agent-heartbeat --status blocked --as lead",
        "agent-issue close 4 --reason x --as lead",
        "agent-sync",
    )
    assert hear(here, "lead") == []


@pytest.mark.slow
def test_a_part_that_has_a_manager_is_of_that_manager(here: Path) -> None:
    succeed(here, "agent-claim 3 --as worker-1")
    hear(here, "lead")
    hear(here, "worker-1")
    succeed(here, "agent-issue close 4")
    assert hear(here, "lead") == []
    assert hear(here, "worker-1") == [
        f"{PERSON} closed #4 «Chapter», a part of your #3.",
        f"The only part of #3 «Docs» is closed. If it is done: {CLOSE.format(3)}",
    ]


@pytest.mark.slow
def test_nothing_is_closed_by_itself(here: Path) -> None:
    succeed(here, "agent-issue close 2", "agent-issue close 3", "agent-sync")
    assert invoke("agent-issue show 1", here).out.splitlines()[-1] == (
        f"All 2 parts of #1 «Parser» are closed. If it is done: {CLOSE.format(1)}"
    )
    succeed(here, "agent-issue close 1 --reason 'All parts are closed.' --as lead")


@pytest.mark.slow
def test_a_session_in_another_clone_hears_of_its_epic_at_its_next_step(
    clones: Callable[[int], list[Path]],
) -> None:
    one, other = clones(2)
    succeed(
        one,
        "agent-init --agent worker-2",
        "agent-issue new Parser --label epic --as @me",
        "agent-issue new Lexer --parent 1 --as @me",
        "agent-sync",
    )
    succeed(other, "agent-init --agent lead", "agent-sync")
    assert call("claude", payload("claude-SessionStart-startup", other), other).code == 0
    succeed(other, "agent-claim 1", "agent-sync")
    assert step(other) == ""
    succeed(
        one,
        "agent-sync",
        "agent-claim 2",
        "agent-escalate 'Which token?' --issue 2",
        "agent-heartbeat --status blocked",
        "agent-sync",
    )
    assert step(other) == ""
    succeed(other, "agent-sync")
    assert step(other) == (
        f"{LEAD}worker-2 started {LEXER}.\n"
        f"worker-2 asks about {LEXER}: «Which token?» `ghp agent-escalations {question(one)}` "
        f"shows all.\nworker-2 is blocked on {LEXER}: «Claimed #2»."
    )
    assert step(other) == ""
    succeed(one, "agent-issue close 2 --reason 'It parses.'", "agent-sync")
    succeed(other, "agent-sync")
    assert step(other) == (
        f"{LEAD}worker-2 closed {LEXER}.\n"
        f"The only part of #1 «Parser» is closed. If it is done: {CLOSE.format(1)}"
    )
