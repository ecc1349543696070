"""A conflict between two versions of a file: whose, where, how the lines read there, and what the
agent reads about it. Pure."""

from ghp_agents.hotpath.light_dataclass import dataclass
from ghp_agents.hotpath.quoting import clean, fence, file, named, path_word, when

THEIRS_LIMIT = 400  # characters of their lines that are shown
LINES, ADDED, DELETED, WHOLE = "lines", "added", "deleted", "whole"


@dataclass
class FileConflict:
    """An edit that git could not merge with another agent's version of the file.

    Lines are counted from 1, and the end is the last one: `start` is `end + 1` if there are none.
    """

    agent: str
    since: str  # start of their edits
    path: str
    kind: str  # lines, added, deleted, or whole: merged only as a whole
    issue: int | None  # theirs
    start: int = 0  # in my version
    end: int = 0
    their_start: int = 0
    their_end: int = 0
    their_path: str = ""  # if they moved the file
    theirs: str = ""  # their text of these lines
    more: int = 0  # further places that conflict
    why_whole: str = ""  # why git does not merge its lines
    they_deleted: bool = False  # of kind deleted: they did, not this edit


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


def why(conflict: FileConflict) -> str:
    """Who changed which lines, and how these lines read there."""
    who = named(conflict.agent)
    issue = f" for #{conflict.issue}" if conflict.issue else ""
    since = f"{who} has been editing it in another worktree{issue} since {when(conflict.since)}"
    if conflict.kind == "whole":
        return f"{file(conflict.path)} cannot be merged: {conflict.why_whole}. {since}."
    if conflict.kind == "deleted":
        return _deleted(conflict, since)
    place = lines(conflict.start, conflict.end)
    begin = f"This edit of {file(conflict.path)} would conflict at your {place}. {since}"
    if conflict.kind == "added":
        begin = f"{who} also created {file(conflict.path)}. {begin}"
    if conflict.their_path:
        begin += f", and moved it to {file(conflict.their_path)}"
    return begin + "." + _theirs(conflict, who) + _more(conflict)


def hint(conflict: FileConflict) -> str:
    """What the agent can do before it edits."""
    return next_step(conflict.agent, conflict.path, whole=conflict.kind != "lines")


def hint_after(conflict: FileConflict) -> str:
    """What the agent can do after a command wrote the file."""
    return _ways("Undo the change", "keep it", conflict.agent, conflict.path)


def next_step(agent: str, path: str, *, whole: bool) -> str:
    """What can be done about another agent's change of a file, or of some of its lines."""
    elsewhere = "Work on something else" if whole else "Edit other lines"
    return _ways(elsewhere, "edit anyway", agent, path)


def _ways(first: str, last: str, agent: str, path: str) -> str:
    who, word = named(agent), path_word(path)
    return (
        f"{first}, wait until {who} finishes its issue, ask: "
        f"`ghp agent-escalate --file {word}`, or {last} after "
        f"`ghp agent-check --override REASON {word}`, which notifies {who}."
    )


def _deleted(conflict: FileConflict, since: str) -> str:
    who = named(conflict.agent)
    if conflict.they_deleted:
        return (
            f"This edit of {file(conflict.path)} would conflict: {who} deleted the file. {since}."
        )
    begin = f"Deleting {file(conflict.path)} would conflict: {who} changed it. {since}."
    return begin + _theirs(conflict, who)


def _theirs(conflict: FileConflict, who: str) -> str:
    """Their version of the lines."""
    if not conflict.their_start:
        return ""
    if conflict.their_end < conflict.their_start:
        return f" {who} has no lines there, after line {conflict.their_end}."
    place = lines(conflict.their_start, conflict.their_end)
    return f" {who} has there, at {place}:\n{fence(clean(conflict.theirs))}"


def _more(conflict: FileConflict) -> str:
    if not conflict.more:
        return ""
    places = "place" if conflict.more == 1 else "places"
    return f"\n{conflict.more} more {places} would conflict."


def lines(start: int, end: int) -> str:
    if end < start:
        return f"place after line {end}"
    return f"line {start}" if start == end else f"lines {start}-{end}"
