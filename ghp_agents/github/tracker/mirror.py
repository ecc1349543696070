"""The mirror: what this clone keeps of the issues on GitHub, for who asks nobody and offline.

Its folder changes when issues do and not otherwise, so that a rulebook can tell by it. When GitHub
was asked last is kept beside it. All of it may be deleted at any time.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.core import files
from ghp_agents.core.files import LockTimeoutError
from ghp_agents.github.tracker.mapping import MirroredIssue
from ghp_agents.workspace import Workspace

FOLDER = "hub/mirror"  # in the folder of caches
_FILE = "issues.json"
_CHECKED = "hub/mirror-checked.json"
_LOCK = "hub/mirror.lock"
_EMPTY: Mapping[int, MirroredIssue] = {}


class Mirror(NamedTuple):
    """The issues of one repository, by number, pull requests not among them."""

    repository: str  # with its host
    issues: Mapping[int, MirroredIssue] = _EMPTY
    viewer: str = ""  # the account that they were read as


class RefreshState(NamedTuple):
    """When GitHub was asked, and how far that got. Times are seconds."""

    cursor: str = ""  # the last `updated_at` that was read
    page: int = 1  # the last page of what changed since then; of an import all has one time
    at: float = 0.0
    whole_at: float = 0.0  # when all issues were read: only so deleted ones are missed


def load(ws: Workspace, repository: str) -> Mirror | None:
    """The mirror of a repository; None where there is none of it."""
    told = _json(ws.cache_dir / FOLDER / _FILE)
    if told.get("repository") != repository or told.get("fields") != [*MirroredIssue._fields]:
        return None
    try:
        found = [_kept(row) for row in told["issues"]]
        return Mirror(repository, {each.number: each for each in found}, str(told["viewer"]))
    except (KeyError, TypeError, ValueError):
        return None


def _kept(row: list[Any]) -> MirroredIssue:
    values: list[Any] = [tuple(each) if isinstance(each, list) else each for each in row]
    return MirroredIssue(*values)


def keep(
    ws: Workspace,
    repository: str,
    viewer: str,
    fresh: Iterable[MirroredIssue],
    *,
    gone: Collection[int] = (),
) -> Mirror:
    """The mirror with what was just read, and without the numbers that are `gone`.

    Others write it meanwhile. Of an issue that two have read, what GitHub says is newer stays.
    """
    read = list(fresh)
    folder = ws.cache_dir / "hub"
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        with files.locked_if_possible(ws.cache_dir / _LOCK):
            return _merge(ws, Mirror(repository, viewer=viewer), read, gone)
    except LockTimeoutError:
        return _merge(ws, Mirror(repository, viewer=viewer), read, gone)


def _merge(ws: Workspace, none: Mirror, read: list[MirroredIssue], gone: Collection[int]) -> Mirror:
    had = load(ws, none.repository) or none
    issues = {number: each for number, each in had.issues.items() if number not in gone}
    for each in read:
        known = issues.get(each.number)
        if known is None or known.id != each.id or known.updated_at <= each.updated_at:
            issues[each.number] = each
    new = Mirror(none.repository, issues, none.viewer or had.viewer)
    if new != had or not (ws.cache_dir / FOLDER / _FILE).exists():
        _write(ws.cache_dir / FOLDER / _FILE, _told(new))
    return new


def _told(mirror: Mirror) -> dict[str, Any]:
    rows = [list(mirror.issues[number]) for number in sorted(mirror.issues)]
    return {
        "repository": mirror.repository,
        "viewer": mirror.viewer,
        "fields": [*MirroredIssue._fields],
        "issues": rows,
    }


def checked(ws: Workspace, repository: str) -> RefreshState:
    """When GitHub was asked for the issues of a repository."""
    told = _json(ws.cache_dir / _CHECKED)
    if told.get("repository") != repository:
        return RefreshState()
    try:
        cursor, page = str(told["cursor"]), int(told["page"])
        return RefreshState(cursor, page, float(told["at"]), float(told["whole"]))
    except (KeyError, TypeError, ValueError):
        return RefreshState()


def note_check(ws: Workspace, repository: str, check: RefreshState) -> None:
    """Remember that GitHub was asked; without it, it is asked again."""
    where = {"repository": repository, "cursor": check.cursor, "page": check.page}
    _write(ws.cache_dir / _CHECKED, {**where, "at": check.at, "whole": check.whole_at})


def _json(path: Path) -> dict[str, Any]:
    try:
        told = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _write(path: Path, told: Mapping[str, Any]) -> None:
    with suppress(OSError):  # what cannot be kept is asked for again
        content = json.dumps(told, separators=(",", ":"), ensure_ascii=False)
        files.write_atomically(path, content.encode("utf-8", "replace"))
