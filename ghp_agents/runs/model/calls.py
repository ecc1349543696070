"""Calls as models write them: the arguments as an object, and calls in the middle of text.

Small models often write a call as text. The forms are those of the templates of Qwen and Hermes
(`<tool_call>`), Mistral (`[TOOL_CALLS]`), Llama (`<function=NAME>`), and JSON in a code block.
"""

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from ghp_agents.runs.model.answer import CALLS_LIMIT, ModelCall

SEARCHED = 100_000  # characters of a text that are searched for calls
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.S)
_MARK = re.compile(
    r"<function=([A-Za-z_]\w{0,40})>|<tool_call>|\[TOOL_CALLS\]|<\|python_tag\|>|```(?:json|tool_call)?"
)
_ENDS = re.compile(r"^\s*(?:</tool_call>|</function>|```)?")
_DECODER = json.JSONDecoder(strict=False)


class BadArgumentsError(Exception):
    """The arguments of a call are not an object."""


def arguments(text: str) -> dict[str, Any]:
    """The arguments of a call. Raises BadArgumentsError.

    Accepts line breaks inside of strings, an object in a string or in a code block, and text after
    the object.
    """
    bare = text.strip()
    for fence in ("```json", "```"):
        bare = bare.removeprefix(fence).lstrip()
    if not bare:
        return {}
    try:
        value, _ = _DECODER.raw_decode(bare)
        if isinstance(value, str):
            value, _ = _DECODER.raw_decode(value.strip())
    except (ValueError, RecursionError) as error:
        raise BadArgumentsError(f"not JSON: {str(error)[:200]}") from None
    if not isinstance(value, dict):
        raise BadArgumentsError(f"not a JSON object but a {type(value).__name__}")
    return value


def without_thoughts(text: str) -> str:
    """The text without what a model thinks aloud before it."""
    return _THOUGHT.sub("", text).strip()


def in_text(text: str, names: Collection[str]) -> tuple[ModelCall, ...]:
    """The calls of known tools that a text contains."""
    bare = without_thoughts(text[:SEARCHED])
    calls = [
        ModelCall(f"text_{number}", name, json.dumps(given))
        for number, (name, given) in enumerate(_objects(bare))
        if name in names
    ]
    return tuple(calls[:CALLS_LIMIT])


def _objects(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names and arguments, in the order of the text."""
    bare, place = _calls_at(text, 0)
    yield from bare
    while mark := _MARK.search(text, place):
        if mark[1]:
            value, place = _value(text, mark.end())
            if isinstance(value, dict):
                yield mark[1], value
        else:
            calls, place = _calls_at(text, mark.end())
            yield from calls


def _calls_at(text: str, place: int) -> tuple[list[tuple[str, dict[str, Any]]], int]:
    """The calls in the JSON at a place, and where it ends."""
    value, end = _value(text, place)
    values = value if isinstance(value, list) else [value]
    calls = [call for fields in values if (call := _call(fields))]
    return calls, end


def _value(text: str, place: int) -> tuple[Any, int]:
    while place < len(text) and text[place].isspace():
        place += 1
    if text[place : place + 1] not in ("{", "["):
        return None, place
    try:
        value, end = _DECODER.raw_decode(text, place)
    except (ValueError, RecursionError):
        return None, place
    ended = _ENDS.match(text[end : end + 40])
    return value, end + (ended.end() if ended else 0)


def _call(value: Any) -> tuple[str, dict[str, Any]] | None:
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("function"), dict):
        value = value["function"]
    name = value.get("name", value.get("tool"))
    given = value.get("arguments", value.get("parameters", {}))
    if isinstance(given, str):
        try:
            given = arguments(given)
        except BadArgumentsError:
            return None
    return (name, given) if isinstance(name, str) and isinstance(given, dict) else None
