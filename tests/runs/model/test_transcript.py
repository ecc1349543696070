"""Conversations: kept, continued, and cut."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.runs.model.transcript import FILE, LEFT_OUT, Transcript, fitting, read, rounds

BEGIN = [{"role": "system", "content": "S"}, {"role": "user", "content": "Do it."}]


def step(number: int, size: int = 10) -> list[dict[str, Any]]:
    """A call and its result."""
    return [
        {"role": "assistant", "content": "", "tool_calls": [{"id": f"c{number}"}]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": "x" * size},
    ]


def test_a_conversation_is_read_again(tmp_path: Path) -> None:
    kept = Transcript(tmp_path)
    kept.add(*BEGIN)
    kept.add(*step(1))
    assert read(tmp_path) == kept.messages == [*BEGIN, *step(1)]
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600


def test_a_step_that_was_cut_by_a_crash_is_left_out(tmp_path: Path) -> None:
    kept = Transcript(tmp_path)
    kept.add(*BEGIN, *step(1), step(2)[0])
    assert read(tmp_path) == [*BEGIN, *step(1)]
    with (tmp_path / FILE).open("a") as file:
        file.write(json.dumps(step(2)[1])[:-3])
    assert read(tmp_path) == [*BEGIN, *step(1)]


def test_without_a_file_there_is_nothing(tmp_path: Path) -> None:
    assert read(tmp_path) == []


@pytest.mark.slow
@given(st.lists(st.integers(0, 400), max_size=12), st.integers(0, 3_000))
def test_what_is_too_long_loses_its_oldest_whole_steps(sizes: list[int], limit: int) -> None:
    messages = [*BEGIN, *(part for n, size in enumerate(sizes) for part in step(n, size))]
    kept = fitting(messages, limit)
    assert kept[:2] == BEGIN
    if len(kept) < len(messages):
        assert kept[2]["content"] == LEFT_OUT
        kept = [*kept[:2], *kept[3:]]
    assert kept[2:] == messages[len(messages) - len(kept) + 2 :]
    assert not sizes or len(rounds(kept)) > 1
    for group in rounds(kept)[1:]:
        assert [message["role"] for message in group] == ["assistant", "tool"]
