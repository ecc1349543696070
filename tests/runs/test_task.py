"""Declared tasks, their arguments, and how far they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.runs.record import ENDED, STARTING, STOPPED
from ghp_agents.runs.task import TaskFile, TaskStep, filled, parse, state, steps
from tests.support.runs import RUN

WHOLE = b"""---
description: "Index \\u202ea folder"
run: make index "$1"
steps: [Read, Write]
time: 10m
---
"""


def test_a_task_is_a_command_or_a_prompt() -> None:
    assert parse("index", WHOLE) == TaskFile(
        "index", "Index �a folder", 'make index "$1"', "claude", ("Read", "Write"), 600.0
    )
    assert parse("ask", b"Onboard $ARGUMENTS.\n") == TaskFile("ask", prompt="Onboard $ARGUMENTS.")
    assert parse("ask", b"---\nrunner: codex\n---\nDo it.\n").runner == "codex"


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("../x", WHOLE, "the name"),
        ("x", b"---\nrun: ''\n---\n", "neither `run` nor a text"),
        ("x", b"", "neither `run` nor a text"),
        ("x", b"---\nrun: [a]\n---\n", "`run` is not a text"),
        ("x", b"---\nrun: a\nsteps: a\n---\n", "`steps` is not a list"),
        ("x", b"---\nrun: a\nsteps: [1]\n---\n", "`steps` is not a list"),
        ("x", b"---\nrun: a\ntime: soon\n---\n", "soon"),
        ("x", b"---\nrun: a\ntime: 30d\n---\n", "`time`"),
        ("x", b"---\nrun: a\n", "no end"),
        ("x", b"\xff", "decode"),
    ],
)
def test_a_wrong_file_is_refused(name: str, text: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse(name, text)


def test_arguments_are_put_in_once() -> None:
    assert filled("$1 and $2, all: $ARGUMENTS; $3", ["$2", "b"]) == "$2 and b, all: $2 b; "


def test_the_state_follows_from_the_record_and_the_process() -> None:
    assert state(RUN._replace(state=ENDED, outcome=STOPPED), lives=True, age=0) == "stopped"
    assert state(RUN._replace(state="running"), lives=True, age=9_999) == "running"
    assert state(RUN._replace(state="running"), lives=False, age=0) == "failed"
    assert state(RUN._replace(state=STARTING), lives=False, age=59) == "running"
    assert state(RUN._replace(state=STARTING), lives=False, age=60) == "failed"


def test_the_last_step_that_was_named_runs() -> None:
    lines = ["10% Read", "Write", "", "90% Read", "150% Check", " "]
    assert steps(["Read", "Publish"], lines, "running") == [
        TaskStep("Write", "done"), TaskStep("Read", "done", 90), TaskStep("Check", "running", 100),
        TaskStep("Publish", "pending"),
    ]  # fmt: skip
    assert [step.state for step in steps([], ["a", "b"], "failed")] == ["done", "failed"]
    assert [step.state for step in steps(["c"], ["a", "b"], "finished")] == [
        "done", "done", "pending",
    ]  # fmt: skip


@pytest.mark.slow
@given(st.lists(st.text(max_size=30), max_size=300), st.sampled_from(["running", "stopped"]))
def test_whatever_a_task_reports_is_shown_short_and_clean(lines: list[str], now: str) -> None:
    shown = steps(["A", "B"], lines, now)
    assert len(shown) <= 200
    assert all(step.text.isprintable() and len(step.text) <= 200 for step in shown)
