"""Provision a new worktree: copy untracked files, create links, and run the set-up command."""

import filecmp
import os
import shutil
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core import process
from ghp_agents.core.child_env import for_commands, shown
from ghp_agents.git import worktree
from ghp_agents.git.worktree import Difference
from ghp_agents.workspace import Workspace

TIMEOUT_S = 3_600.0  # seconds; installing all dependencies may take long
KEPT = 20_000  # bytes of the output


class Setup(NamedTuple):
    """How the set-up command ended."""

    command: str
    code: int
    output: str
    timed_out: bool = False


class Provisioned(NamedTuple):
    """The result of provisioning a worktree."""

    copied: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()
    setup: Setup | None = None
    notes: tuple[str, ...] = ()


def provision(ws: Workspace, path: Path) -> Provisioned:
    """Provision the worktree at `path` from the main one, by upstream's configuration keys.
    Existing files are kept, so it is idempotent."""
    source = ws.main_worktree
    copied: list[str] = []
    linked: list[str] = []
    notes: list[str] = []
    if source is not None and source.is_dir():
        for name in ws.settings.worktree_copy_files:
            _put(source, path, name, copied, notes, link=False)
        for name in ws.settings.worktree_symlink_files:
            _put(source, path, name, linked, notes, link=True)
    return Provisioned(tuple(copied), tuple(linked), _set_up(ws, path), tuple(notes))


def is_provisioned(ws: Workspace, path: str) -> bool:
    """Whether an untracked path is one that provisioning puts into a worktree."""
    names = (*ws.settings.worktree_copy_files, *ws.settings.worktree_symlink_files)
    return path.rstrip("/") in {os.path.normpath(name) for name in names}


def was_provisioned(ws: Workspace, difference: Difference) -> bool:
    """Whether a difference comes only from provisioning the worktree."""
    return difference.code == "??" and is_provisioned(ws, difference.path)


def unchanged_files(ws: Workspace) -> frozenset[str]:
    """The unchanged links and files from provisioning this worktree. They are not work to commit,
    but git may not ignore them: `node_modules/` in .gitignore does not match a link."""
    source, top = ws.main_worktree, ws.place.toplevel
    if source is None or top is None or source == Path(top):
        return frozenset()
    settings = ws.settings
    names = (*settings.worktree_copy_files, *settings.worktree_symlink_files)
    tidy = {os.path.normpath(name) for name in names}
    return frozenset(name for name in tidy if _is_as_put(source / name, Path(top, name)))


def committed(ws: Workspace, trunk: str, head: str) -> tuple[str, ...]:
    """The provisioned files in commits from `trunk` to `head`. `git add -A` adds them if git does
    not ignore them. Links are broken elsewhere. Copies may hold secrets, so one commit is enough
    to report them, even if they are removed later."""
    top, names = Path(ws.place.toplevel or ""), sorted(unchanged_files(ws))
    added = worktree.added(top, trunk, head, names) if names else []
    still = worktree.present(top, head, added) if added else []
    return tuple(name for name in added if name in still or not (top / name).is_symlink())


def _is_as_put(origin: Path, path: Path) -> bool:
    if path.is_symlink():
        return path.readlink() == origin
    return path.is_file() and origin.is_file() and filecmp.cmp(origin, path, shallow=False)


def _put(
    source: Path, path: Path, name: str, done: list[str], notes: list[str], *, link: bool
) -> None:
    tidy = os.path.normpath(name)
    parts = Path(tidy).parts
    if tidy in (".", "") or Path(tidy).is_absolute() or ".." in parts or ".git" in parts:
        notes.append(f"Skipped {name!r}: it is not a path inside the repository.")
        return
    origin, target = source / tidy, path / tidy
    if not os.path.lexists(origin) or os.path.lexists(target):
        return
    if not origin.resolve().is_relative_to(source.resolve()) and not link:
        notes.append(f"Skipped {name!r}: it links to a place outside the repository.")
        return
    if not target.parent.resolve().is_relative_to(path.resolve()):
        notes.append(f"Skipped {name!r}: a link on its path leads out of the worktree.")
        return
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _link(origin, target) if link else _copy(origin, target)
    except OSError as error:
        notes.append(f"Skipped {name!r}: {error.strerror}.")
        return
    done.append(tidy)


def _link(origin: Path, target: Path) -> None:
    target.symlink_to(origin)


def _copy(origin: Path, target: Path) -> None:
    if origin.is_dir():
        shutil.copytree(origin, target, symlinks=True)
    else:
        shutil.copy2(origin, target)


def _set_up(ws: Workspace, path: Path) -> Setup | None:
    command = ws.settings.worktree_setup_command
    if not command or not ws.settings.worktree_auto_setup:
        return None
    env = {**for_commands(ws.environ, ws.settings.checks_keep_env), "PWD": str(path)}
    ran = process.shell(command, cwd=path, env=env, timeout=TIMEOUT_S, keep=KEPT)
    return Setup(command, ran.code, shown(ran.output, ws.environ), ran.timed_out)
