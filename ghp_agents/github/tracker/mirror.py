"""The mirror: this clone's copy of the issues on GitHub, for offline use and without requests.

Its folder changes only when issues change, so that the policy cache can check it. The time of the
last request is stored separately. All of it may be deleted at any time.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.core import files
from ghp_agents.core.files import LockTimeoutError
from ghp_agents.core.json_file import object_file
from ghp_agents.github.tracker.mapping import MirroredIssue
from ghp_agents.workspace import Workspace

FOLDER = "hub/mirror"  # in the folder of caches
_FILE = "issues.json"
CHECKED = "hub/mirror-checked.json"
_LOCK = "hub/mirror.lock"
_EMPTY: Mapping[int, MirroredIssue] = {}


class Mirror(NamedTuple):
    """The issues of one repository by number, without pull requests."""

    repository: str  # with its host
    issues: Mapping[int, MirroredIssue] = _EMPTY
    viewer: str = ""  # the account that read them


class RefreshState(NamedTuple):
    """When the issues were last requested, and how far that got. Times are seconds."""

    cursor: str = ""  # the last `updated_at` that was read
    page: int = 1  # the last page of changes since then; an import gives all issues one time
    at: float = 0.0
    whole_at: float = 0.0  # when all issues were read, which detects deleted ones


def load(ws: Workspace, repository: str) -> Mirror | None:
    """The mirror of a repository; None if there is none."""
    data = object_file(ws.cache_dir / FOLDER / _FILE).read()
    if data.get("repository") != repository or data.get("fields") != [*MirroredIssue._fields]:
        return None
    try:
        issues = [_kept(row) for row in data["issues"]]
        return Mirror(repository, {issue.number: issue for issue in issues}, str(data["viewer"]))
    except (KeyError, TypeError, ValueError):
        return None


def _kept(row: list[Any]) -> MirroredIssue:
    values: list[Any] = [tuple(value) if isinstance(value, list) else value for value in row]
    return MirroredIssue(*values)


def keep(
    ws: Workspace,
    repository: str,
    viewer: str,
    fresh: Iterable[MirroredIssue],
    *,
    gone: Collection[int] = (),
) -> Mirror:
    """Merge issues that were just read into the mirror; drop the numbers in `gone`.

    Other processes write it meanwhile. If two have read an issue, GitHub's newer version stays.
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


def _merge(
    ws: Workspace, empty: Mirror, read: list[MirroredIssue], gone: Collection[int]
) -> Mirror:
    previous = load(ws, empty.repository) or empty
    issues = {number: issue for number, issue in previous.issues.items() if number not in gone}
    for issue in read:
        mirrored = issues.get(issue.number)
        if mirrored is None or mirrored.id != issue.id or mirrored.updated_at <= issue.updated_at:
            issues[issue.number] = issue
    new = Mirror(empty.repository, issues, empty.viewer or previous.viewer)
    if new != previous or not (ws.cache_dir / FOLDER / _FILE).exists():
        _write(ws.cache_dir / FOLDER / _FILE, _to_json(new))
    return new


def _to_json(mirror: Mirror) -> dict[str, Any]:
    rows = [list(mirror.issues[number]) for number in sorted(mirror.issues)]
    return {
        "repository": mirror.repository,
        "viewer": mirror.viewer,
        "fields": [*MirroredIssue._fields],
        "issues": rows,
    }


def checked(ws: Workspace, repository: str) -> RefreshState:
    """When the issues of a repository were last requested."""
    data = object_file(ws.cache_dir / CHECKED).read()
    if data.get("repository") != repository:
        return RefreshState()
    try:
        cursor, page = str(data["cursor"]), int(data["page"])
        return RefreshState(cursor, page, float(data["at"]), float(data["whole"]))
    except (KeyError, TypeError, ValueError):
        return RefreshState()


def note_check(ws: Workspace, repository: str, check: RefreshState) -> None:
    """Remember a request; if that fails, the next call sends one again."""
    where = {"repository": repository, "cursor": check.cursor, "page": check.page}
    _write(ws.cache_dir / CHECKED, {**where, "at": check.at, "whole": check.whole_at})


def _write(path: Path, data: Mapping[str, Any]) -> None:
    with suppress(OSError):  # then it is requested again
        content = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
        files.write_atomically(path, content.encode("utf-8", "replace"))
