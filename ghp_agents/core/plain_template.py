"""Renders plain templates without jinja2, whose import and compiler take a quarter of a checkpoint.

A plain template has only comments, names with attributes, `if`, `for` and `else`. The page is the
same that jinja2 makes. Only our own templates come here: a repository's own have limits.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

_TAG = re.compile(
    r"\s*\{#-(?P<comment>.*?)-#\}\s*"
    r"|(?:^[ \t]*)?\{%\s+(?P<block>[\w. ]+?)\s+%\}\n?"
    r"|\{\{\s+(?P<value>[\w.]+)\s+\}\}",
    re.DOTALL | re.MULTILINE,
)
_SPECIAL = re.compile(r"\{[{%#]")  # what a tag that is not plain begins with


class NotPlainError(Exception):
    """The template needs jinja2: it has more than this module knows, or names what is not given."""


class _Value(NamedTuple):
    path: str

    def write(self, values: Mapping[str, Any]) -> Iterator[str]:
        yield str(_read(self.path, values))


class _Text(NamedTuple):
    text: str

    def write(self, _: Mapping[str, Any]) -> Iterator[str]:
        yield self.text


class _If(NamedTuple):
    path: str
    body: "list[_Node]"
    otherwise: "list[_Node]"

    def write(self, values: Mapping[str, Any]) -> Iterator[str]:
        yield from _write(self.body if _read(self.path, values) else self.otherwise, values)


class _For(NamedTuple):
    name: str
    path: str
    body: "list[_Node]"
    otherwise: "list[_Node]"

    def write(self, values: Mapping[str, Any]) -> Iterator[str]:
        items = list(_read(self.path, values))
        for index, item in enumerate(items, start=1):
            yield from _write(self.body, {**values, self.name: item, "loop": {"index": index}})
        if not items:
            yield from _write(self.otherwise, values)


_Node = _Value | _Text | _If | _For


def render(text: str, values: Mapping[str, Any]) -> str:
    """Render a template's `text` with `values`. Raises NotPlainError."""
    nodes, end = _parse(_tags(text))
    if end:
        raise NotPlainError(end)
    return "".join(_write(nodes, values))


def _tags(text: str) -> Iterator[_Text | _Value | str]:
    """Texts, values, and the words of blocks."""
    at = 0
    for tag in _TAG.finditer(text):
        yield _plain(text[at : tag.start()])
        at = tag.end()
        if tag["value"]:
            yield _Value(tag["value"])
        elif tag["block"]:
            yield tag["block"]
    yield _plain(text[at:])


def _plain(text: str) -> _Text:
    if _SPECIAL.search(text):
        raise NotPlainError(text)
    return _Text(text)


def _parse(tags: Iterator[_Text | _Value | str]) -> tuple[list[_Node], str]:
    """The nodes of a block, and the word that ends it: `else`, or empty at the end of the text."""
    nodes: list[_Node] = []
    for tag in tags:
        if not isinstance(tag, str):
            nodes.append(tag)
            continue
        match tag.split():
            case ["if", path]:
                nodes.append(_If(path, *_branches(tags, "endif")))
            case ["for", name, "in", path]:
                nodes.append(_For(name, path, *_branches(tags, "endfor")))
            case ["else" | "endif" | "endfor" as end]:
                return nodes, end
            case _:
                raise NotPlainError(tag)
    return nodes, ""


def _branches(tags: Iterator[_Text | _Value | str], end: str) -> tuple[list[_Node], list[_Node]]:
    body, word = _parse(tags)
    otherwise: list[_Node] = []
    if word == "else":
        otherwise, word = _parse(tags)
    if word != end:
        raise NotPlainError(word)
    return body, otherwise


def _write(nodes: list[_Node], values: Mapping[str, Any]) -> Iterator[str]:
    for node in nodes:
        yield from node.write(values)


def _read(path: str, values: Mapping[str, Any]) -> Any:
    """The value of a name with attributes: `issue.goal`."""
    value: Any = values
    for name in path.split("."):
        try:
            value = value[name] if isinstance(value, Mapping) else getattr(value, name)
        except (KeyError, AttributeError):
            raise NotPlainError(path) from None
    return value
