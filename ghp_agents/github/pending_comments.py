"""Issues whose status comment must be written: one empty file each, until it is written.

A command or a sweep that changes an issue notes it before the effect, so that a process that is
killed, or that GitHub refuses for a moment, leaves it to the next sync.
"""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ghp_agents.workspace import Workspace

FOLDER = "hub/pending-comments"  # beside the outbox: it is not a cache


def add(ws: Workspace, issues: Iterable[int]) -> None:
    """Note that these comments must be written."""
    folder = _folder(ws)
    with suppress(OSError):  # then they are written when their text changes
        folder.mkdir(parents=True, exist_ok=True)
        for number in issues:
            (folder / str(number)).touch()


def pending(ws: Workspace) -> set[int]:
    """The issues whose comments must be written."""
    return {int(path.name) for path in _folder(ws).glob("[0-9]*") if path.name.isdecimal()}


def remove(ws: Workspace, issue: int) -> None:
    """Forget an issue: its comment was written, or cannot be."""
    with suppress(OSError):
        (_folder(ws) / str(issue)).unlink(missing_ok=True)


def _folder(ws: Workspace) -> Path:
    return ws.ghp_dir / FOLDER
