"""The folders that clones have in the person's home: those of deleted clones are removed.

A folder's name is a digest of the clone's path, so each clone writes its path into its own.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from ghp_agents.core import files
from ghp_agents.hotpath import heartbeat, own_file
from ghp_agents.workspace import HOMES, Workspace

PATH = "clone"  # the file with the path of the clone's git folder
MISSING_FOR = 30 * 86_400.0  # seconds; a disk may be away for a while
UNKNOWN_FOR = 180 * 86_400.0  # the same for a folder without such a file


def note(ws: Workspace) -> None:
    """Write down whose folder this clone's is, if there is one. Raises OSError."""
    folder = Path(ws.home_folder)
    if folder.is_dir() and not (folder / PATH).exists():
        files.write_atomically(folder / PATH, os.fsencode(ws.common_dir.resolve()))


def deserted(ws: Workspace) -> Iterator[Path]:
    """The folders of clones that are deleted, with the homes of their agents. Records that such a
    clone has not sent are elsewhere, and stay."""
    now, top = ws.clock.now(), Path(ws.home_folder).parent
    for folder in top.iterdir() if top.is_dir() else ():
        clone = _clone_of(folder, ws.environ)
        if (clone and clone.exists()) or _used(folder) > now - (
            MISSING_FOR if clone else UNKNOWN_FOR
        ):
            continue
        yield folder
        if clone:
            yield Path(f"{heartbeat.spare_folder(str(clone), ws.environ)}{HOMES}")


def _clone_of(folder: Path, environ: Mapping[str, str]) -> Path | None:
    """The git folder of the clone that a folder belongs to; None if that is not known."""
    with suppress(OSError, ValueError):
        path = os.fsdecode((folder / PATH).read_bytes())
        if own_file.home_folder(path, environ) == str(folder):
            return Path(path)
    return None


def _used(folder: Path) -> float:
    """When something in a folder was last written."""
    times = [folder.lstat().st_mtime]
    with suppress(OSError):
        times += [path.lstat().st_mtime for path in folder.rglob("*")]
    return max(times)
