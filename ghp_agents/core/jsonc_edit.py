"""Edits one value in a user's JSON file; all other bytes stay as they are.

A new item gets the file's indentation and line ends. Removing it again restores the same text.
Positions come from `jsonc.py`, so comments may be anywhere.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from ghp_agents.core.jsonc import Item, Node, find, parse, skip

Keys = Sequence[str | int]
_INDENT = "  "
_LINE_END = re.compile(r"\r?\n[ \t]*\Z")
_LINE_START = re.compile(r"\A\r?\n[ \t]*\Z")
_COMMENTS = re.compile(r"(?:[ \t]*(?://[^\r\n]*|/\*[^\n]*?\*/))*")


class _Style(NamedTuple):
    """The formatting of a file."""

    newline: str
    unit: str


def at(text: str, keys: Keys) -> Node | None:
    """The value at `keys`, or None. Raises JsonError."""
    node: Node | None = parse(text)
    for key in keys:
        node = find(node, key) if node else None
    return node


def insert(text: str, keys: Keys, key: str | None, value: Any) -> str:
    """Add a member to the object at `keys`, or an item (no `key`) to the array. It comes last."""
    node = _container(text, keys)
    new = _empty(text, node, key, value) if not node.items else None
    return new if new is not None else _append(text, node, key, value)


def replace(text: str, keys: Keys, value: Any) -> str:
    """Replace the value at `keys`."""
    node = at(text, keys)
    assert node is not None
    pretty = "\n" in text[node.start : node.end] or not node.is_container
    written = _written(text, value, _line_indent(text, node.start), pretty=pretty)
    return text[: node.start] + written + text[node.end :]


def remove(text: str, keys: Keys) -> str:
    """Remove the member or item at `keys`, and its comma."""
    node = _container(text, keys[:-1])
    index = _index(node, keys[-1])
    if len(node.items) == 1:
        return _remove_only(text, node)
    if index == len(node.items) - 1:
        return _remove_last(text, node)
    return _remove_before(text, node.items[index], node.items[index + 1])


def fresh(value: Any) -> str:
    """The text of a new file."""
    return _render(value, _Style("\n", _INDENT), "") + "\n"


def _empty(text: str, node: Node, key: str | None, value: Any) -> str:
    """Fill empty brackets. Their old content stays in front, so that removal can restore it."""
    outer = _line_indent(text, node.start)
    style = _style(text)
    pretty = node.start == parse(text).start or _is_spread(text)
    before = style.newline + outer + style.unit if pretty else ""
    after = style.newline + outer if pretty else ""
    item = _item(text, key, value, outer + style.unit, pretty=pretty)
    close = node.end - 1
    return text[:close] + before + item + after + text[close:]


def _append(text: str, node: Node, key: str | None, value: Any) -> str:
    last = node.items[-1].end
    comma = skip(text, last)
    trails = text.startswith(",", comma)
    pretty = "\n" in text[node.start : node.items[0].start]
    indent = _items_indent(text, node)
    gap = _style(text).newline + indent if pretty else _gap(text, node)
    item = gap + _item(text, key, value, indent, pretty=pretty)
    behind = comma + 1 if trails else last
    place = _COMMENTS.match(text, behind) if pretty else None
    position = place.end() if place else behind
    if trails:
        return text[:position] + item + "," + text[position:]
    return text[:last] + "," + text[last:position] + item + text[position:]


def _gap(text: str, node: Node) -> str:
    """The text between a comma and the next item on one line."""
    if len(node.items) > 1:
        between = text[node.items[0].end : node.items[1].start]
        blank = between.partition(",")[2]
        return blank if blank.strip(" \t") == "" else " "
    return " "


def _item(text: str, key: str | None, value: Any, indent: str, *, pretty: bool) -> str:
    written = _written(text, value, indent, pretty=pretty)
    return written if key is None else f"{json.dumps(key, ensure_ascii=False)}: {written}"


def _remove_only(text: str, node: Node) -> str:
    (item,) = node.items
    end = _behind_comma(text, item.end)
    close = node.end - 1
    line_end = _LINE_END.search(text, node.start + 1, item.start)
    if line_end and _LINE_START.match(text[end:close]):
        return text[: line_end.start()] + text[close:]
    return text[: item.start] + text[end:]


def _remove_last(text: str, node: Node) -> str:
    before, item = node.items[-2:]
    comma = skip(text, before.end)
    end = _behind_comma(text, item.end)
    line_end = _LINE_END.search(text, comma + 1, item.start)
    start = line_end.start() if line_end else len(text[: item.start].rstrip(" \t"))
    if end != item.end:  # the file uses trailing commas
        return text[:start] + text[end:]
    return text[:comma] + text[comma + 1 : start] + text[end:]


def _remove_before(text: str, item: Item, following: Item) -> str:
    end = _behind_comma(text, item.end)
    line_end = _LINE_END.search(text, 0, item.start)
    if line_end:
        return text[: line_end.start()] + text[end:]
    if text[end : following.start].strip() == "":
        end = following.start
    return text[: item.start] + text[end:]


def _behind_comma(text: str, end: int) -> int:
    comma = skip(text, end)
    return comma + 1 if text.startswith(",", comma) else end


def _container(text: str, keys: Keys) -> Node:
    node = at(text, keys)
    assert node is not None
    assert node.is_container
    return node


def _index(node: Node, key: str | int) -> int:
    if isinstance(key, int):
        return key
    return max(index for index, item in enumerate(node.items) if item.key == key)


def _written(text: str, value: Any, indent: str, *, pretty: bool) -> str:
    if not pretty:
        return json.dumps(value, ensure_ascii=False)
    return _render(value, _style(text), indent)


def _render(value: Any, style: _Style, indent: str) -> str:
    """A value over several lines; a list of plain values stays on one."""
    if isinstance(value, dict) and value:
        rows = [
            f"{json.dumps(key, ensure_ascii=False)}: {_render(item, style, indent + style.unit)}"
            for key, item in value.items()
        ]
        return "{" + _lines(rows, style, indent) + "}"
    if isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        return "[" + _lines([_render(item, style, indent + style.unit) for item in value],
                            style, indent) + "]"  # fmt: skip
    return json.dumps(value, ensure_ascii=False)


def _lines(rows: Sequence[str], style: _Style, indent: str) -> str:
    inside = style.newline + indent + style.unit
    return inside + f",{inside}".join(rows) + style.newline + indent


def _style(text: str) -> _Style:
    """The file's line ends, and the indentation of its first member."""
    end = text.find("\n")
    newline = "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"
    root = parse(text)
    unit = _leading(text, root.items[0].start) if root.items else None
    return _Style(newline, unit or _INDENT)


def _is_spread(text: str) -> bool:
    """Whether the file spans several lines."""
    root = parse(text)
    return "\n" in text[root.start : root.end]


def _items_indent(text: str, node: Node) -> str:
    for item in node.items:
        indent = _leading(text, item.start)
        if indent is not None:
            return indent
    return _line_indent(text, node.start) + _style(text).unit


def _leading(text: str, start: int) -> str | None:
    """The blanks before the item on its line; None if something else precedes it."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return line if line.strip(" \t") == "" and "\n" in text[:start] else None


def _line_indent(text: str, position: int) -> str:
    """The blanks at the beginning of the line that contains `position`."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]
