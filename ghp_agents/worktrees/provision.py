"""Provision a new worktree: copy untracked files, create links, and run the set-up command."""

import os
import shutil
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core import process
from ghp_agents.core.child_env import for_commands, shown
from ghp_agents.settings import left_out_variables
from ghp_agents.workspace import Workspace
from ghp_agents.worktrees import copied_files, slots, submodules
from ghp_agents.worktrees.submodules import MissingSubmodule

TIMEOUT_S = 3_600.0  # seconds; installing all dependencies may take long
KEPT = 20_000  # bytes of the output
NO_SOURCE = (
    "Copied no untracked files (such as .env): nothing tells which worktree is the main one. Run "
    "`ghp agent-init` there; in a bare repository, check out the default branch in a worktree."
)


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
    missing: tuple[MissingSubmodule, ...] = ()  # submodules
    notes: tuple[str, ...] = ()


def provision(ws: Workspace, path: Path, *, exact: bool = False) -> Provisioned:
    """Provision the worktree at `path` from the home worktree, by upstream's configuration keys.
    Existing files are kept, so it is idempotent; with `exact`, submodules get their commits."""
    missing = submodules.check_out(ws, path, exact=exact)
    source = ws.home_worktree
    copied: list[str] = []
    linked: list[str] = []
    notes: list[str] = []
    if source is not None and source.is_dir():
        chosen = copied_files.select(ws, source)
        notes += chosen.notes
        for name in chosen.paths:
            _put(source, path, name, copied, notes, link=False)
        for name in ws.settings.worktree_symlink_files:
            _put(source, path, name, linked, notes, link=True)
    elif ws.settings.worktree_copy_files or ws.settings.worktree_symlink_files:
        notes.append(NO_SOURCE)
    setup = _set_up(ws, path)
    keep = ws.settings.checks_keep_env
    if setup and (
        note := left_out_variables.note(
            ws.home_folder, ws.environ, keep, "the set-up command does", left_out_variables.SETTING
        )
    ):
        notes.append(note)
    return Provisioned(tuple(copied), tuple(linked), setup, missing, tuple(notes))


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
        target.symlink_to(origin) if link else shutil.copy2(origin, target)
    except OSError as error:
        notes.append(f"Skipped {name!r}: {error.strerror}.")
        return
    done.append(tidy)


def _set_up(ws: Workspace, path: Path) -> Setup | None:
    command = ws.settings.worktree_setup_command
    if not command or not ws.settings.worktree_auto_setup:
        return None
    env = for_commands(ws.environ, ws.settings.checks_keep_env)
    env |= {**slots.variables(path), "PWD": str(path)}
    ran = process.shell(command, cwd=path, env=env, timeout=TIMEOUT_S, keep=KEPT)
    return Setup(command, ran.code, shown(ran.output, ws.environ), ran.timed_out)
