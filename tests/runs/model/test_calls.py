"""Calls as models write them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.runs.model.calls import BadArgumentsError, arguments, in_text, without_thoughts

NAMES = ("read", "run")
READ = [("read", {"path": "x"})]
BARE = '{"name": "read", "arguments": {"path": "x"}}'


def found(text: str) -> list[tuple[str, object]]:
    return [(call.name, json.loads(call.arguments)) for call in in_text(text, NAMES)]


@pytest.mark.parametrize(
    "text",
    [
        BARE,
        f"[{BARE}]",
        f"<tool_call>\n{BARE}\n</tool_call>",
        f"I read.\n<tool_call>{BARE}",
        f"First:\n```json\n{BARE}\n```\nThen I wait.",
        f"```\n{BARE}\n```",
        f"[TOOL_CALLS][{BARE}]",
        '<|python_tag|>{"name": "read", "parameters": {"path": "x"}}',
        '<function=read>{"path": "x"}</function>',
        '{"tool": "read", "arguments": "{\\"path\\": \\"x\\"}"}',
        '{"type": "function", "function": {"name": "read", "arguments": {"path": "x"}}}',
        f"<think>Perhaps <tool_call>{BARE.replace('read', 'run')}</tool_call></think>\n{BARE}",
    ],
)
def test_a_call_in_text_is_found(text: str) -> None:
    assert found(text) == READ


def test_several_calls_come_in_their_order() -> None:
    both = f'<tool_call>{BARE}</tool_call>\n<tool_call>{{"name": "run", "arguments": {{}}}}'
    assert found(both) == [*READ, ("run", {})]


@pytest.mark.parametrize(
    "text",
    ["", "Done.", '{"name": "rm", "arguments": {}}', '```json\n{"a": 1}\n```', "<tool_call>{",
     '{"name": "read", "arguments": 7}', "[7]", "<think>" + BARE],
)  # fmt: skip
def test_other_text_is_no_call(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", {}),
        ('{"a": 1}', {"a": 1}),
        ('{"a": "line\nline"}', {"a": "line\nline"}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('{"a": 1}{"b": 2}', {"a": 1}),
    ],
)
def test_arguments_are_read_as_they_are_meant(text: str, value: object) -> None:
    assert arguments(text) == value


@pytest.mark.parametrize("text", ["{", "[1]", "7", "path=x", '{"a": ', "[" * 100_000])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(BadArgumentsError):
        arguments(text)


@given(st.text(alphabet='<>{}[]"`toolcalfunin=_/: \n', max_size=200))
def test_any_text_has_calls_or_none(text: str) -> None:
    assert isinstance(in_text(text, NAMES), tuple)
    assert isinstance(without_thoughts(text), str)


@pytest.mark.parametrize("text", ["```" * 40_000, "<tool_call>[" * 10_000, "<think>" * 20_000])
def test_a_long_text_is_searched_at_once(text: str) -> None:
    assert found(text) == []
