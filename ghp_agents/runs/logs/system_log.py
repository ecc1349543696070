"""What the supervisors of this clone did: `.git/ghp/runs/system.jsonl`, one JSON object per line.

Beyond LIMIT a new file begins, and one older file is kept. Agents can write there, so what is no
line is left out, and readers clean the texts.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.core.clock import to_text
from ghp_agents.core.ids import one_line
from ghp_agents.hotpath import own_file
from ghp_agents.runs import folder
from ghp_agents.runs.record import RunRecord
from ghp_agents.workspace import Workspace

FILE, OLDER = "system.jsonl", "system.old.jsonl"
LIMIT = 2_000_000  # bytes
TEXT_LIMIT = 2_000  # characters


class SystemLine(NamedTuple):
    """One thing that a supervisor did or could not do."""

    at: str
    text: str
    agent: str = ""
    run: str = ""  # with R-
    issue: int = 0
    error: bool = False


class SystemLog:
    """Tells somebody what is done, and keeps it."""

    def __init__(self, ws: Workspace, tell: Callable[[str], None]) -> None:
        self._ws, self._tell = ws, tell

    def __call__(
        self, text: str, run: RunRecord | None = None, agent: str = "", *, is_error: bool = False
    ) -> None:
        """Tell it, and write it down; that it cannot be written stops nothing."""
        self._tell(text)
        who = (run.agent, run.name, run.issue) if run else (agent, "", 0)
        at = to_text(self._ws.clock.now())
        with suppress(OSError):
            write(self._ws, SystemLine(at, one_line(text, TEXT_LIMIT), *who, is_error))


def write(ws: Workspace, line: SystemLine) -> None:
    """Append a line. Raises OSError."""
    place = folder.top(ws)
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = place / FILE
    if path.exists() and path.stat().st_size > LIMIT:
        path.replace(place / OLDER)
    own_file.append(str(path), json.dumps(line._asdict()).encode() + b"\n")


def read(ws: Workspace) -> list[SystemLine]:
    """The kept lines, oldest first."""
    texts = [_text(folder.top(ws) / name) for name in (OLDER, FILE)]
    return [*filter(None, map(_parsed, "".join(texts).splitlines()))]


def follow(ws: Workspace, wait: Callable[[], None]) -> Iterator[SystemLine]:
    """The lines that come from now on, without an end. `wait` is called before each look."""
    reader = folder.LogReader(folder.top(ws), FILE)
    for _ in reader.lines():
        pass
    while True:
        wait()
        yield from filter(None, map(_parsed, reader.lines()))


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(2 * LIMIT).decode("utf-8", "replace")
    except OSError:
        return ""


def _parsed(text: str) -> SystemLine | None:
    try:
        fields: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    kinds = SystemLine.__annotations__
    if not isinstance(fields, dict) or fields.keys() != kinds.keys():
        return None
    fits = all(isinstance(fields[name], kind) for name, kind in kinds.items())
    return SystemLine(**fields) if fits else None
