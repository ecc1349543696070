"""A change as `git diff` shows it: the lines that were added, and the names that were removed."""

import re
from typing import NamedTuple

from ghp_agents.conflicts.syntax.facts import words
from ghp_agents.conflicts.syntax.languages import language_of

_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NAME = r"([^\W\d][\w$]*)"
_KEYWORD = re.compile(
    r"\b(?:def|class|function\*?|func(?:\s*\([^)]*\))?|fn|struct|enum|union|trait|type|interface"
    rf"|module|mod|const|static|let|mut|var|record|namespace|define|macro_rules!)\s+{_NAME}"
)
_ASSIGNED = re.compile(rf"^\s*(?:export\s+)?{_NAME}\s*(?:=(?!=)|:)")
_BRACES = re.compile(  # languages without such keywords: `int f(`, `int a =`, `} T;`, `A,`
    rf"{_NAME}\s*(?:\([^;]*$|\([^;]*\{{|=(?!=))|\}}\s*{_NAME}\s*;|^\s*{_NAME}\s*,?\s*$"
)
_INDENTED = re.compile(r"\s+(?:[A-Z_][A-Z\d_]*\s*[=:]|\w+\s*:.*[^,{(\[:]$)")  # in a Python class
_KEYWORDS = words(
    "if else elif try except finally return default case for while do switch import from const let "
    "var static public private protected self this in is not and or new await async with"
)
_COMMENT = re.compile(r"(?:^|\s)(?:#(?!\s*define)|//|/?\*).*")
LONGEST_LINE = 2_000  # characters; a longer one is not written by hand


class Change(NamedTuple):
    """The change to one file."""

    old: str  # its path before, empty for a new file
    new: str  # its path after, empty for a deleted one
    old_oid: str
    new_oid: str
    added: tuple[tuple[int, int], ...] = ()  # first and last line, in the new file
    new_words: frozenset[str] = frozenset()  # in the added lines
    lost: frozenset[str] = frozenset()  # names that removed lines seem to define

    @property
    def path(self) -> str:
        """Its path after the change, or before a deletion."""
        return self.new or self.old

    def adds(self, line: int) -> bool:
        """Whether a line of the new file was added."""
        return any(first <= line <= last for first, last in self.added)


def read_diff(output: bytes) -> list[Change]:
    """Read `git diff --raw -z --patch --unified=0`. Raises ValueError."""
    changes, patch = _read_raw(output)
    pieces = _pieces(patch)
    if len(pieces) != len(changes):
        raise ValueError("git shows another number of patches than of files")
    return [
        _with_lines(change, piece)
        for change, piece in zip(changes, pieces, strict=True)
        if language_of(change.path)
    ]


def _read_raw(output: bytes) -> tuple[list[Change], bytes]:
    changes = []
    while output.startswith(b":"):
        head, _, output = output.partition(b"\0")
        old_mode, new_mode, old_oid, new_oid, status = head.decode("ascii").split(" ")
        first, _, output = output.partition(b"\0")
        second = first
        if status[0] in "RC":
            second, _, output = output.partition(b"\0")
        old, new = (name.decode("utf-8", "surrogateescape") for name in (first, second))
        changes.append(
            Change(
                old if old_mode.startswith(":100") else "", new if new_mode[:3] == "100" else "",
                old_oid, new_oid,
            )
        )  # fmt: skip
    return changes, output.removeprefix(b"\0")


def _pieces(patch: bytes) -> list[list[tuple[bytes, int]]]:
    """For each file its removed and added lines, with the number of each added one."""
    pieces: list[list[tuple[bytes, int]]] = []
    lines = iter(patch.split(b"\n"))
    for line in lines:
        if line.startswith(b"diff --git "):
            pieces.append([])
        elif header := _HUNK.match(line):
            removed, number, added = int(header[1] or 1), int(header[2]), int(header[3] or 1)
            while removed or added:
                line = next(lines, b"\\ end")
                if line.startswith(b"-"):
                    removed -= 1
                    pieces[-1].append((line, 0))
                elif line.startswith(b"+"):
                    added -= 1
                    pieces[-1].append((line, number))
                    number += 1
                elif line == b"\\ end":
                    raise ValueError("git's output is cut")
    return pieces


def _with_lines(change: Change, piece: list[tuple[bytes, int]]) -> Change:
    gone = [_text(line) for line, number in piece if not number]
    come = [(_text(line), number) for line, number in piece if number]
    new_words = frozenset().union(*(words(_COMMENT.sub("", text)) for text, _ in come))
    language = language_of(change.path)
    lost = {definition for text in gone for definition in defined(language, text)}
    if change.old == change.new:
        lost -= {definition for text, _ in come for definition in defined(language, text)}
    names = frozenset(name for _, name in lost)
    ranges: list[tuple[int, int]] = []
    for _, number in come:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return change._replace(added=tuple(ranges), new_words=new_words, lost=names)


def defined(language: str, line: str) -> set[tuple[str, str]]:
    """The names that a line seems to define, with its indentation: too many rather than too few."""
    names = {*_KEYWORD.findall(line)}
    if language != "python" or not line[:1].isspace() or _INDENTED.match(line.rstrip()):
        names |= {*_ASSIGNED.findall(line)}
    if language in ("c", "java", "javascript", "typescript", "tsx"):
        names |= {name for groups in _BRACES.findall(line) for name in groups if name}
    indent = line[: len(line) - len(line.lstrip())]
    return {(indent, name) for name in names - _KEYWORDS if len(name) > 1}


def _text(line: bytes) -> str:
    return line[1:].decode("utf-8", "replace") if len(line) <= LONGEST_LINE else ""
