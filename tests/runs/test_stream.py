"""What clients print, read as progress and as lines for people."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.runs import stream
from ghp_agents.runs.stream import ClientProgress, ShownLine

Json = dict[str, Any]


def read(*events: Json | str) -> ClientProgress:
    progress = ClientProgress()
    for event in events:
        progress = stream.read(progress, event if isinstance(event, str) else json.dumps(event))
    return progress


def answer(id: str, *blocks: Json, **more: object) -> Json:
    return {"type": "assistant", "message": {"id": id, "content": [*blocks]}, **more}


CLAUDE: list[Json | str] = [
    {"type": "system", "subtype": "init", "session_id": "c-1"},
    answer("m1", {"type": "text", "text": "I look."}),
    answer("m1", {"type": "tool_use", "name": "Bash", "input": {"command": "ls\n-l"}}),
    answer("m9", {"type": "text", "text": "A sub-agent."}, parent_tool_use_id="t"),
    {"type": "user", "message": {"content": [
        {"type": "tool_result", "is_error": True, "content": "No."}]}},
    answer("m2", {"type": "text", "text": "Done."}),
    {"type": "result", "is_error": False, "num_turns": 2, "total_cost_usd": 0.25, "result": "x"},
]  # fmt: skip
CODEX: list[Json | str] = [
    {"type": "thread.started", "thread_id": "x-1"},
    {"type": "item.completed", "item": {"type": "agent_message", "text": "I look."}},
    {"type": "item.completed",
     "item": {"type": "command_execution", "command": "ls", "exit_code": 2}},
    {"type": "turn.completed", "usage": {"input_tokens": 5, "output_tokens": 2}},
]  # fmt: skip


def test_claude_names_its_session_its_turns_and_its_cost() -> None:
    assert read(*CLAUDE) == ClientProgress("c-1", 2, 0.25, answer="m2")


def test_codex_names_its_session_its_steps_and_its_tokens() -> None:
    assert read(*CODEX) == ClientProgress("x-1", 1, tokens=7)


def test_gemini_and_opencode_name_theirs() -> None:
    gemini = read(
        {"type": "init", "session_id": "g-1"},
        {"type": "tool_use", "tool_name": "write_file"},
        {"type": "result", "status": "success", "stats": {"total_tokens": 11}},
    )
    assert gemini == ClientProgress("g-1", 1, tokens=11)
    part = {"type": "step_finish", "sessionID": "o-1", "part": {"cost": 0.5}}
    assert read(part, part) == ClientProgress("o-1", cost=1.0)


@pytest.mark.parametrize(
    ("event", "error"),
    [
        (
            {"type": "result", "is_error": True, "subtype": "error_max_turns"},
            "it reached the limit of turns",
        ),
        (
            {"type": "result", "is_error": True, "subtype": "error_during_execution"},
            "error_during_execution",
        ),
        ({"type": "result", "is_error": True, "result": "API Error"}, "API Error"),
        ({"type": "turn.failed", "error": {"message": "quota"}}, "quota"),
        ({"type": "error", "error": {"name": "X", "data": {"message": "model"}}}, "model"),
        ({"type": "error"}, "the client reported an error"),
    ],
)
def test_an_error_is_kept_as_the_client_says_it(event: Json, error: str) -> None:
    assert read(event).error == error


def test_a_success_ends_an_error() -> None:
    assert read({"type": "error", "message": "again"}, CODEX[-1]).error == ""


@pytest.mark.parametrize("line", ["", "text", "{", "[1]", '{"type": []}', "{" * 100_000])
def test_what_is_no_event_changes_nothing(line: str) -> None:
    assert read(line) == ClientProgress()


@pytest.mark.slow
@given(st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(
        st.sampled_from(["type", "message", "content", "item", "usage", "part", "error", "id",
                         "cost", "session_id", "stats", "num_turns", "total_cost_usd"]), inner),
), st.sampled_from(["assistant", "user", "item.completed", "result", "error", "text", "tool_use",
                    "turn.completed", "step_finish", "message"]))  # fmt: skip
def test_no_event_stops_the_reader(fields: object, kind: str) -> None:
    line = json.dumps({**(fields if isinstance(fields, dict) else {}), "type": kind})
    progress = stream.read(ClientProgress(), line)
    assert 0 <= progress.cost < 1e12
    assert progress.turns >= 0
    stream.shown(line)


def test_people_read_what_was_said_and_done() -> None:
    lines = [stream.shown(json.dumps(event)) for event in (*CLAUDE, *CODEX)]
    assert [line for line in lines if line] == [
        ShownLine("I look."),
        ShownLine("> Bash ls -l"),
        ShownLine("A sub-agent."),
        ShownLine("Refused or failed: No.", True),
        ShownLine("Done."),
        ShownLine("Ended."),
        ShownLine("I look."),
        ShownLine("$ ls", True),
    ]


def test_other_lines_are_shown_without_control_characters() -> None:
    assert stream.shown("\x1b[2Jhello\x07") == ShownLine("\ufffd[2Jhello\ufffd")
    assert stream.shown(" \n") is None
