"""The field `changes` of a presence: the files that an agent has changed, and which lines.

Lines are those of the base: the file in the last common commit with the main branch. Nothing of
the content is in it. What another clone wrote may be anything, so it is checked when it is read.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

from ghp_agents.hotpath import line_ranges, policy_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.git.changed_lines import FileChange

FIELD = "changes"
MOST_FILES = 50
PATH_LIMIT = 300  # characters
ROOM = 6_000  # characters for all files of an agent
_EACH = 40  # characters of a file's entry besides its values
_HEX = "0123456789abcdef"


class ChangedFields(TypedDict, total=False):
    """A file that an agent has changed. Without `lines`, all of it or an unknown part."""

    path: str
    base: str  # the id of the file's content in the base; none for a new file
    lines: str  # of the base, as in a patch: `10,3` has three lines, `9,0` inserts after line 9
    added: bool
    deleted: bool


def encode(changes: "Iterable[FileChange]") -> list[ChangedFields]:
    """The field's value, bounded. Changed files come before new ones, which rarely conflict."""
    encoded: list[ChangedFields] = []
    room = ROOM
    for change in sorted(changes, key=lambda change: (not change.base, change.path)):
        fields = _fields(change)
        room -= _EACH + sum(len(value) for value in fields.values() if isinstance(value, str))
        if room < 0 or len(encoded) == MOST_FILES:
            break
        if is_shown(change.path):
            encoded.append(fields)
    return encoded


def is_shown(path: str) -> bool:
    """Whether a path may be in the field: printable, not too long, inside a repository."""
    is_short = 0 < len(path) <= PATH_LIMIT
    return is_short and path.isprintable() and policy_cache.is_plain(path)


def _fields(change: "FileChange") -> ChangedFields:
    fields: ChangedFields = {"path": change.path}
    if not change.base:
        return {**fields, "added": True}
    fields["base"] = change.base
    if change.is_deleted:
        fields["deleted"] = True
    elif change.ranges is not None:
        fields["lines"] = line_ranges.encode(line_ranges.bounded(change.ranges))
    return fields


def valid(value: Any) -> list[ChangedFields]:
    """The valid entries of the field in a record by any clone."""
    entries = value[:MOST_FILES] if isinstance(value, list) else ()
    return [entry for entry in entries if _decoded(entry) is not None]


def decode(presence: Mapping[str, Any]) -> "list[FileChange]":
    """The files that an agent has changed, by its presence."""
    return [change for entry in valid(presence.get(FIELD)) if (change := _decoded(entry))]


def _decoded(entry: Any) -> "FileChange | None":
    from ghp_agents.git.changed_lines import FileChange  # of few presences

    if not isinstance(entry, dict):
        return None
    path, base, lines = entry.get("path"), entry.get("base", ""), entry.get("lines")
    marks = [entry.get("added", False), entry.get("deleted", False)]
    if not isinstance(path, str) or not is_shown(path) or not _is_id(base):
        return None
    if not all(isinstance(mark, bool) for mark in marks) or marks[0] is bool(base):
        return None
    if lines is None or marks[1]:
        return FileChange(path, base, None, is_deleted=marks[1])
    try:
        ranges = line_ranges.decode(lines) if isinstance(lines, str) else None
    except ValueError:
        return None
    return FileChange(path, base, tuple(ranges)) if ranges else None


def _is_id(base: Any) -> bool:
    is_long = isinstance(base, str) and len(base) in (0, 40, 64)
    return is_long and not base.strip(_HEX)
