"""A note of what this clone is merging, so that the next command completes a killed one."""

import json
from collections.abc import Sequence
from pathlib import Path

from ghp_agents.core import files
from ghp_agents.workspace import Workspace

FILE = "merging.json"
LARGEST = 100_000  # bytes


def note(ws: Workspace, numbers: Sequence[int]) -> None:
    """Note the numbers of pull requests before they are merged. Raises OSError."""
    files.write_atomically(_path(ws), json.dumps([*numbers]).encode())


def read(ws: Workspace) -> list[int]:
    """Return the numbers of a command that was killed, or that still runs."""
    try:
        with _path(ws).open("rb") as file:
            numbers = json.loads(file.read(LARGEST))
    except (OSError, ValueError):
        return []
    return [number for number in numbers if type(number) is int] if type(numbers) is list else []


def forget(ws: Workspace) -> None:
    """Remove the note: all is done."""
    _path(ws).unlink(missing_ok=True)


def _path(ws: Workspace) -> Path:
    return ws.ghp_dir / FILE
