"""Relations to other issues in an issue's body, and its metadata: read and written.

Lines that people write are always read. This program writes such lines only if the server has no
relations of its own. They are the last lines of a body and are not shown as part of its text. The
metadata is the very last line.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import IssueNumber
from ghp_agents.core.metadata import NO_METADATA, Metadata, any_metadata
from ghp_agents.issues.body_sections import outside_fences
from ghp_agents.issues.issue import BODY_LIMIT

BLOCKED = "Blocked by"
PARENT = "Parent"
_KINDS = {BLOCKED.casefold(): BLOCKED, PARENT.casefold(): PARENT}
_MOST = 100  # relations of one body; GitHub allows 50 blockers

_LINE = re.compile(
    r"\s*(?:[-*+]\s+)?\*\*(blocked by|parent)\s*(?::\s*\*\*|\*\*\s*:)(.*)", re.IGNORECASE
)
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]")
_METADATA = re.compile(r"\*\*Metadata:\*\* `(\{.*\})`")
_INERT = str.maketrans({char: f"\\u{ord(char):04x}" for char in "`<>@/"})  # all are in JSON texts
_REFERENCE = re.compile(r"(?<![\w/&#])#(\d{1,9})\b")


class BodyParts(NamedTuple):
    """A parsed body."""

    text: str
    blocked_by: tuple[IssueNumber, ...] = ()
    parent: IssueNumber | None = None
    metadata: Metadata = NO_METADATA


def read_relations(body: str) -> BodyParts:
    """The relations and the metadata in a body, and its text without these lines at its end."""
    text = body.replace("\r\n", "\n")
    above, _, last = text.rstrip("\n").rpartition("\n")
    match = _METADATA.fullmatch(last)
    metadata = any_metadata(match[1]) if match else NO_METADATA
    lines = (above if metadata else text).split("\n")
    kinds = _kinds(lines)
    by_kind: dict[str, dict[IssueNumber, None]] = {BLOCKED: {}, PARENT: {}}
    for line, kind in zip(lines, kinds, strict=True):
        if kind and line:
            by_kind[kind] |= dict.fromkeys(_references(line))
    parents = [*by_kind[PARENT]]
    return BodyParts(
        "\n".join(lines[: _end(lines, kinds)]).strip("\n"),
        tuple(sorted([*by_kind[BLOCKED]][:_MOST])),
        parents[0] if parents else None,
        metadata,
    )


def joined(parts: BodyParts) -> str:
    """A body with its relations and its metadata as the last lines. Nothing in these calls a bot,
    mentions anybody or ends the code."""
    lines: list[str] = []
    if parts.blocked_by:
        named = ", ".join(f"#{number}" for number in sorted(parts.blocked_by))
        lines.append(f"**{BLOCKED}:** {named}")
    if parts.parent is not None:
        lines.append(f"**{PARENT}:** #{parts.parent}")
    if parts.metadata:
        lines.append(f"**Metadata:** `{parts.metadata.translate(_INERT)}`")
    return "\n\n".join(part for part in (parts.text, "\n".join(lines)) if part)


def fitting(what: str, text: str) -> str:
    """A text with all that this program added, if GitHub takes it. Raises UsageError."""
    if len(text) > BODY_LIMIT:
        raise UsageError(
            f"The {what} has {len(text)} characters, with what ghp-agents adds; GitHub's limit is "
            f"{BODY_LIMIT}.",
            hint="Move the long part to a file in the repository and link to it here.",
        )
    return text


def without(text: str, blockers: Collection[int] = (), parent: int | None = None) -> str:
    """A text without these references in relation lines; the rest of such lines stays."""
    gone: dict[str, set[int]] = {BLOCKED: {*blockers}, PARENT: set()}
    gone[PARENT] |= set() if parent is None else {parent}
    lines = text.split("\n")
    kept: list[str] = []
    for line, kind in zip(lines, _kinds(lines), strict=True):
        drop = gone[kind].intersection(_references(line)) if kind else ()
        left = _reduced(line, drop) if drop else line
        if left is not None:
            kept.append(left)
    return "\n".join(kept)


def _kinds(lines: Sequence[str]) -> list[str]:
    """The kind of each line: blockers, parent, or an empty string."""
    kinds: list[str] = []
    section = ""
    for line in outside_fences(lines):
        own = _LINE.fullmatch(line)
        if _HEADING.match(line):
            section, kind = _KINDS.get(line.strip("# \t").rstrip(":").casefold(), ""), ""
        else:
            kind = _KINDS[own[1].casefold()] if own else section if line else ""
        kinds.append(kind)
    return kinds


def _references(line: str) -> Iterable[IssueNumber]:
    return [IssueNumber(int(number)) for number in _REFERENCE.findall(line) if int(number)]


def _reduced(line: str, drop: Collection[int]) -> str | None:
    """A line without some of its references; None if nothing else is left."""
    own = _LINE.fullmatch(line)
    head, rest = (line[: own.start(2)], own[2]) if own else ("", line)
    left = _REFERENCE.sub(lambda reference: "" if int(reference[1]) in drop else reference[0], rest)
    tidy = ", ".join(filter(None, (piece.strip() for piece in left.split(","))))
    if not tidy.strip(" -*+"):
        return None
    return f"{head} {tidy}" if head else tidy


def _end(lines: Sequence[str], kinds: Sequence[str]) -> int:
    """The index where the text ends and the relations begin."""
    end = len(lines)
    while end and (not lines[end - 1].strip() or _is_relation(lines[end - 1], kinds[end - 1])):
        end -= 1
    return end


def _is_relation(line: str, kind: str) -> bool:
    """Whether a line has the form that this program writes, and nothing else."""
    own = _LINE.fullmatch(line) if kind else None
    return bool(own) and not _REFERENCE.sub("", own[2] if own else "").strip(" ,")
