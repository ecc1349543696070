"""The state of a client's file before our hooks; the file alone does not show it later.

On removal, a file that we created is deleted, and an empty list of the user's stays. The file's
content is not saved: it may hold secrets.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core import files, user_file
from ghp_agents.hotpath import fastjson
from ghp_agents.hotpath.locate import walk_up
from ghp_agents.integrations.clients.hook_entries import NO_LISTS, Lists

FOLDER = "guards"


class Origin(NamedTuple):
    """The state of the file before our hooks."""

    created: bool  # there was no file
    theirs: Lists = NO_LISTS
    hidden: bool = False  # we added its line to `info/exclude`


def place(common_dir: Path, top: Path, client: str) -> Path:
    """The record's path for a worktree's file, by git's name for it; it may be moved."""
    location = walk_up(str(top))
    git_dir = os.path.relpath(location.git_dir, common_dir) if location else "."
    worktree = "main" if git_dir == "." or git_dir.startswith("..") else git_dir
    return common_dir / "ghp" / FOLDER / worktree / f"{client}.json"


def users_place(environ: Mapping[str, str], client: str, path: Path) -> Path:
    """The record's path for a file of the user; by the file's path, which a variable may change."""
    home = Path(environ.get("HOME") or "/")
    state = environ.get("XDG_STATE_HOME")
    base = Path(state) if state else home / ".local/state"
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return base / "ghp" / FOLDER / f"{client}-{digest}.json"


def all_of(common_dir: Path, client: str) -> Iterator[Path]:
    """All records of a client in a clone, also of deleted worktrees."""
    yield from sorted((common_dir / "ghp" / FOLDER).rglob(f"{client}.json"))


def is_line_ours(common_dir: Path, client: str) -> bool:
    """Whether we added the line that hides a client's files."""
    kept = [read(path) for path in all_of(common_dir, client)]
    return any(origin.hidden for origin in kept if origin)


def read(path: Path) -> Origin | None:
    """The saved state, or None."""
    kept = fastjson.read_object(str(path))
    if kept is None:
        return None
    events = kept.get("events")
    names = [name for name in events if isinstance(name, str)] if isinstance(events, list) else []
    theirs = Lists(kept.get("hooks") is True, frozenset(names))
    return Origin(kept.get("made") is True, theirs, kept.get("hidden") is True)


def write(path: Path, origin: Origin) -> None:
    """Save the state. Raises OSError."""
    record = {
        "made": origin.created,
        "hidden": origin.hidden,
        "hooks": origin.theirs.hooks,
        "events": sorted(origin.theirs.events),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write_durably(path, json.dumps(record, indent=2).encode() + b"\n")


def forget(path: Path) -> None:
    """Delete the record and its empty folders."""
    ours = next(parent for parent in path.parents if parent.name == FOLDER).parent
    user_file.delete(path, ours.parent)
