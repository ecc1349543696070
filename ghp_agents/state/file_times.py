"""When the files of the state last changed: tells whether to read it again, for a few stat calls.

A change within the same tick of the file system's clock as an earlier one may be missed, so a
reader also reads from time to time.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from ghp_agents.state.private_repo import state_path
from ghp_agents.workspace import Workspace

_REFS = "refs/ghp"  # all refs of ours; git replaces a ref's file, which changes its folder's time
_OTHERS = ("packed-refs", "reftable/tables.list")
_CACHED = ("sync.json", "hub/mirror")  # the last exchange, and GitHub's issues


def read_times(ws: Workspace, *, presence: bool = True) -> tuple[tuple[str, int], ...]:
    """A value that is another one after a commit or an exchange of this clone, and, with
    `presence`, after a heartbeat."""
    return tuple(_times(ws, presence))


def _times(ws: Workspace, presence: bool) -> Iterator[tuple[str, int]]:
    for folder in ws.folders:
        if presence:
            yield from _files(f"{folder}/agents")
        yield from _one(f"{folder}/outbox")
    state = state_path(ws)
    yield from _folders(f"{state}/{_REFS}")
    for path in (*(f"{state}/{name}" for name in _OTHERS),
                 *(f"{ws.cache_dir}/{name}" for name in _CACHED)):  # fmt: skip
        yield from _one(path)


def _one(path: str) -> Iterator[tuple[str, int]]:
    try:
        yield path, Path(path).stat().st_mtime_ns
    except OSError:
        return


def _files(folder: str) -> Iterator[tuple[str, int]]:
    """The files of a folder, and when each was written."""
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.path for entry in entries)
    except OSError:
        return
    for path in names:
        yield from _one(path)


def _folders(top: str) -> Iterator[tuple[str, int]]:
    """A folder and those below it; a file that came, went or was replaced changes its folder."""
    for path, names, _ in os.walk(top):
        names.sort()
        yield from _one(path)
