"""What was left over in removed worktrees: a folder for each, for 30 days."""

import errno
import os
import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ghp_agents.core.clock import to_seconds, to_text
from ghp_agents.core.files import random_hex
from ghp_agents.workspace import Workspace
from ghp_agents.worktrees.folder import worktrees_folder

FOLDER = ".kept"  # beside the worktrees
DAYS = 30
DAY_S = 86_400
_NAME = re.compile(r".+\.(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\dZ)")
_SPECIAL = (errno.EXDEV,)


def new_folder(ws: Workspace, name: str) -> Path:
    """The path of a new folder for what the worktree `name` leaves; its name has the date. Raises
    RefusedError."""
    stamp = to_text(ws.clock.now()).replace(":", "-")
    folder = worktrees_folder(ws) / FOLDER / f"{name}.{stamp}"
    return folder.with_name(f"{name}-{random_hex(2)}.{stamp}") if folder.exists() else folder


def move(top: Path, names: Sequence[str], folder: Path) -> None:
    """Move files and folders of a worktree to the same paths below `folder`. A link is moved, not
    followed. Killed in between, each is whole in one of the two places. Raises OSError."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    for name in names:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            (top / name).rename(target)
        except OSError as error:
            if error.errno not in _SPECIAL:
                raise
            _copy(top / name, target)


def _copy(origin: Path, target: Path) -> None:
    """Move to another file system: the origin goes once its whole copy has the name."""
    half = target.with_name(f"{target.name}.{random_hex(4)}")
    if origin.is_symlink() or not origin.is_dir():
        shutil.copy2(origin, half, follow_symlinks=False)
    else:
        shutil.copytree(origin, half, symlinks=True, ignore=_special)
    half.rename(target)
    delete(origin)


def _special(folder: str, names: list[str]) -> list[str]:
    """The sockets and pipes of a folder: nothing can be kept of them."""
    places = {name: Path(folder, name) for name in names}
    return [name for name, place in places.items()
            if not (place.is_symlink() or place.is_dir() or place.is_file())]  # fmt: skip


def delete(path: Path) -> None:
    """Delete a file, link or folder, also one with folders that cannot be written. Raises
    OSError."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    try:
        shutil.rmtree(path)
    except PermissionError:
        for at, folders, _ in os.walk(path):
            for place in (Path(at), *(Path(at, name) for name in folders)):
                if not place.is_symlink():
                    with suppress(OSError):
                        place.chmod(0o700)
        shutil.rmtree(path)


def sweep(ws: Workspace) -> list[Path]:
    """Delete the folders that are older than 30 days by their name and by their timestamp; returns
    them. Raises RefusedError."""
    parent, old = worktrees_folder(ws) / FOLDER, list[Path]()
    for folder in sorted(parent.iterdir()) if parent.is_dir() else ():
        match = _NAME.fullmatch(folder.name)
        if match and not folder.is_symlink() and folder.is_dir():
            at = max(to_seconds(":".join(match.groups())), folder.stat().st_mtime)
            if ws.clock.now() - at > DAYS * DAY_S:
                with suppress(OSError):
                    delete(folder)
                    old.append(folder)
    with suppress(OSError):
        parent.rmdir()
    return old
