"""Parser of JSON with comments and trailing commas that keeps the position of every value.

It reads other programs' settings, so that they can be edited in place.
"""

import json
import re
from typing import Any, NamedTuple

from ghp_agents.core.errors import GhpError

DEPTH = 200  # levels of nesting; no real settings are as deep
MARK = "\ufeff"  # byte order mark; some editors write it, JSON does not allow it
_BLANKS = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"(?:-?[0-9][0-9.eE+-]*|true|false|null)(?![0-9A-Za-z_])")


class JsonError(GhpError):
    """The text is not JSON; `line` counts from 1."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(f"line {line}: {reason}", hint="Fix that line, and try again.")
        self.reason = reason
        self.line = line


class Node(NamedTuple):
    """A value, and the span of its text."""

    start: int
    end: int
    value: Any
    items: tuple["Item", ...] = ()  # of an object or an array, in the order of the text

    @property
    def is_container(self) -> bool:
        """Whether it is an object or an array."""
        return isinstance(self.value, dict | list)


class Item(NamedTuple):
    """A member of an object (it begins at its key), or an item of an array."""

    start: int
    key: str | None
    node: Node

    @property
    def end(self) -> int:
        """Where its text ends."""
        return self.node.end


def parse(text: str) -> Node:
    """Parse a whole text. Raises JsonError."""
    root = _value(text, skip(text, text.startswith(MARK)), 0)
    rest = skip(text, root.end)
    if rest < len(text):
        raise _wrong(text, rest, "text after the end")
    return root


def skip(text: str, at: int) -> int:
    """Skip blanks and comments from `at` on."""
    blanks = _BLANKS.match(text, at)
    assert blanks is not None
    return blanks.end()


def find(node: Node, key: str | int) -> Node | None:
    """The member `key` of an object (the last one if repeated), or an array's item."""
    if isinstance(key, int):
        return node.items[key].node if key < len(node.items) else None
    return next((item.node for item in reversed(node.items) if item.key == key), None)


def _value(text: str, at: int, depth: int) -> Node:
    if depth > DEPTH:
        raise _wrong(text, at, f"nested more than {DEPTH} deep")
    if text.startswith("{", at):
        return _object(text, at, depth)
    if text.startswith("[", at):
        return _array(text, at, depth)
    scalar = _STRING.match(text, at) or _SCALAR.match(text, at)
    if scalar is None:
        raise _wrong(text, at, "a value is missing")
    return Node(at, scalar.end(), _scalar(text, at, scalar[0]))


def _scalar(text: str, at: int, written: str) -> Any:
    try:
        return json.loads(written)
    except ValueError as error:
        raise _wrong(text, at, getattr(error, "msg", str(error)).lower()) from None


def _object(text: str, start: int, depth: int) -> Node:
    items: list[Item] = []
    at = skip(text, start + 1)
    while not text.startswith("}", at):
        key = _STRING.match(text, at)
        if key is None:
            raise _wrong(text, at, "a name in double quotes is missing")
        colon = skip(text, key.end())
        if not text.startswith(":", colon):
            raise _wrong(text, colon, "`:` is missing")
        node = _value(text, skip(text, colon + 1), depth + 1)
        items.append(Item(at, _scalar(text, at, key[0]), node))
        at = _after(text, node.end, "}")
    return Node(start, at + 1, {item.key: item.node.value for item in items}, tuple(items))


def _array(text: str, start: int, depth: int) -> Node:
    items: list[Item] = []
    at = skip(text, start + 1)
    while not text.startswith("]", at):
        node = _value(text, at, depth + 1)
        items.append(Item(at, None, node))
        at = _after(text, node.end, "]")
    return Node(start, at + 1, [item.node.value for item in items], tuple(items))


def _after(text: str, end: int, closing: str) -> int:
    """Where the next item or `closing` begins. A trailing comma is allowed."""
    at = skip(text, end)
    if text.startswith(",", at):
        return skip(text, at + 1)
    if not text.startswith(closing, at):
        raise _wrong(text, at, f"`,` or `{closing}` is missing")
    return at


def _wrong(text: str, at: int, reason: str) -> JsonError:
    where = "the text ends too early" if at >= len(text) else reason
    return JsonError(where, text.count("\n", 0, at) + 1)
