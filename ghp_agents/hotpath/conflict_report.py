"""A conflict between two versions of a file: whose, where, and how the lines read there. Pure."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.hotpath.implicit_leases import ImplicitLease

THEIRS_LIMIT = 400  # characters of their lines that are shown
LINES, ADDED, DELETED, WHOLE = "lines", "added", "deleted", "whole"


class FileConflict:
    """An edit that git could not merge with another agent's version of the file.

    Lines are counted from 1, and the end is the last one: `start` is `end + 1` if there are none.
    """

    __slots__ = (
        "agent",
        "end",
        "issue",
        "kind",
        "more",
        "path",
        "since",
        "start",
        "their_end",
        "their_path",
        "their_start",
        "theirs",
        "they_deleted",
        "why_whole",
    )  # fmt: skip

    def __init__(self, lease: "ImplicitLease", path: str, kind: str, issue: int | None) -> None:
        self.agent = lease.agent
        self.since = lease.since
        self.issue = issue
        self.path = path
        self.kind = kind  # lines, added, deleted, or whole: merged only as a whole
        self.start = self.end = 0  # in my version
        self.their_start = self.their_end = 0
        self.their_path = path  # another one if they moved the file
        self.theirs = ""  # their text of these lines
        self.more = 0  # further places that conflict
        self.why_whole = ""  # why git does not merge its lines
        self.they_deleted = False  # of kind deleted: they did, not this edit

    def __repr__(self) -> str:
        return f"FileConflict({', '.join(f'{x}={getattr(self, x)!r}' for x in self.__slots__)})"


def numbered(start: int, end: int) -> "tuple[int, int]":
    """Lines from 1 with the last one; if there are none, that is the line before."""
    return start + 1, end


def excerpt(text: bytes, start: int, end: int) -> str:
    """Lines of a text, counted from 1."""
    if start > end:
        return ""
    lines = text.split(b"\n")[start - 1 : end]
    shown = b"\n".join(lines).decode("utf-8", "replace")
    return shown if len(shown) <= THEIRS_LIMIT else shown[: THEIRS_LIMIT - 1] + "…"
