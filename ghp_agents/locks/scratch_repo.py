"""A temporary git folder with refs of its own and shared objects.

It relates to the private repository like a linked worktree. So a fetch here shows what the remote
told this process and no other, and processes do not wait for each other's refs. A killed process
leaves one folder, which the next one removes.
"""

import contextlib
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from ghp_agents.core.errors import GhpError
from ghp_agents.state.private_repo import StateRepository
from ghp_agents.workspace import Workspace

SPACE = "refs/worktree/"  # git stores these refs per folder
_UNUSED = 3_600.0  # seconds; no exchange takes that long


@contextlib.contextmanager
def scratch(ws: Workspace, repository: StateRepository) -> Iterator[StateRepository]:
    """The private repository, seen from a temporary folder. Raises GhpError."""
    _sweep(ws)
    folder = ws.cache_dir / f".right.{secrets.token_hex(6)}.tmp"
    try:
        _make(folder, repository)
    except OSError as error:
        raise GhpError(
            f"Cannot use locks here: {ws.ghp_dir} is not writable ({error.strerror}).",
            hint="Run this outside the sandbox, or free disk space.",
        ) from None
    try:
        yield repository._replace(path=folder, main=repository.path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _make(folder: Path, repository: StateRepository) -> None:
    folder.mkdir(parents=True)
    (folder / "HEAD").write_text(f"ref: {SPACE}none\n", encoding="ascii")
    (folder / "commondir").write_text(f"{repository.path}\n", encoding="utf-8")


def _sweep(ws: Workspace) -> None:
    for left in ws.cache_dir.glob(".right.*.tmp"):
        try:
            if ws.clock.now() - left.stat().st_mtime > _UNUSED:
                shutil.rmtree(left, ignore_errors=True)
        except OSError:
            continue
