"""The folders of runs: `.git/ghp/runs/<id>/` with record, prompt, log and exit code.

Only this user can read them. The log is bounded: beyond LOG_LIMIT its end goes to `log.1`, and the
file begins again. The client appends to the same file, so lines of that moment can be lost.
"""

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from ghp_agents.cards.permissions import REFUSED, REFUSED_LIMIT
from ghp_agents.core import files
from ghp_agents.core.errors import RefusedError
from ghp_agents.core.files import LockTimeoutError
from ghp_agents.core.json_file import object_file
from ghp_agents.hotpath.quoting import clean
from ghp_agents.runs import record
from ghp_agents.runs.record import RunRecord
from ghp_agents.workspace import Workspace

FOLDER = "runs"
LOG_LIMIT = 8_000_000  # bytes of a log before it begins again
LOG_KEPT = 4_000_000  # bytes of it that are kept then
READ_AT_ONCE = 1_000_000  # bytes
MOST_ENDED = 100  # runs whose folders are kept
TIMES, OLDER_TIMES = "times", "times.1"  # see `logs.times`


def top(ws: Workspace) -> Path:
    """The folder of all runs of this clone."""
    return ws.ghp_dir / FOLDER


def of(ws: Workspace, run: str) -> Path:
    """The folder of a run."""
    return top(ws) / run


def write(ws: Workspace, run: RunRecord) -> None:
    """Keep a run's record. Raises OSError."""
    place = of(ws, run.id)
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    data = json.dumps(record.encode(run), indent=1).encode()
    files.write_atomically(place / "run.json", data)


def read_all(ws: Workspace) -> list[RunRecord]:
    """The known runs, oldest first; files that are not records are skipped."""
    with contextlib.suppress(OSError), os.scandir(top(ws)) as entries:
        names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
        runs = [record.decode(object_file(of(ws, name) / "run.json").read()) for name in names]
        kept = [run for run, name in zip(runs, names, strict=True) if run and run.id == name]
        return sorted(kept, key=lambda run: (run.at, run.seconds, run.id))
    return []


def forget_oldest(ws: Workspace) -> None:
    """Delete the folders of the oldest ended runs. The last run of each agent at an issue stays."""
    runs = read_all(ws)
    last = {(run.agent, run.issue): run.id for run in runs}
    ended = [run for run in runs if run.state == record.ENDED and run.id not in last.values()]
    more = [run for run in runs if run.state == record.ENDED and run.id in last.values()]
    too_many = len(ended) + len(more) - MOST_ENDED
    for run in [*ended, *more][: max(0, too_many)]:
        shutil.rmtree(of(ws, run.id), ignore_errors=True)


@contextlib.contextmanager
def alone(ws: Workspace, agent: str) -> Iterator[None]:
    """Be the only supervisor of an agent in this clone; the kernel ends that with the process.
    Raises RefusedError."""
    top(ws).mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(files.locked(top(ws) / f"{agent}.lock", patience=0.0))
        except LockTimeoutError:
            raise RefusedError(
                f"Another `ghp agent-work` in this clone supervises {agent}.",
                hint="Choose another name with --agent NAME, or end the other one first.",
            ) from None
        yield


def exit_code(place: Path) -> int | None:
    """The client's exit code; None if it did not end by itself."""
    try:
        return int((place / "exit").read_text("ascii", "replace"))
    except (OSError, ValueError):
        return None


def log_size(place: Path) -> int:
    """Bytes of the log; 0 if there is none."""
    try:
        return (place / "log").stat().st_size
    except OSError:
        return 0


def rotate(place: Path) -> bool:
    """Bound the log; returns whether it begins again."""
    path = place / "log"
    size = log_size(place)
    if size <= LOG_LIMIT:
        return False
    with path.open("rb") as file:
        file.seek(size - LOG_KEPT)
        kept = file.read(LOG_KEPT).partition(b"\n")[2]
    files.write_atomically(place / "log.1", kept)
    os.truncate(path, 0)
    with contextlib.suppress(OSError):
        (place / TIMES).replace(place / OLDER_TIMES)
    return True


def refused(place: Path) -> list[str]:
    """What the run's agent was refused, oldest first."""
    try:
        with (place / REFUSED).open("rb") as file:
            data = file.read(REFUSED_LIMIT)
    except OSError:
        return []
    lines = [clean(line) for line in data.decode("utf-8", "replace").splitlines()]
    # Where our hooks are installed, too, a client asks twice.
    return [line for at, line in enumerate(lines) if line not in lines[max(0, at - 1) : at]]


class LogReader:
    """The whole lines of a log, as they come."""

    def __init__(self, place: Path, name: str = "log") -> None:
        self._path = place / name
        self._offset = 0
        self._rest = b""

    def lines(self) -> Iterator[str]:
        """The lines that are new since the last call."""
        try:
            with self._path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                if self._offset > size:
                    self.begin_again()
                while self._offset < size:
                    file.seek(self._offset)
                    data = file.read(min(READ_AT_ONCE, size - self._offset))
                    if not data:
                        return
                    self._offset += len(data)
                    yield from self._whole(data)
        except OSError:
            return

    @property
    def whole(self) -> int:
        """The bytes of the whole lines so far."""
        return self._offset - len(self._rest)

    def begin_again(self) -> None:
        """The log was cut after its lines were read."""
        self._offset, self._rest = 0, b""

    def _whole(self, data: bytes) -> Iterator[str]:
        *whole, rest = (self._rest + data).split(b"\n")
        self._rest = rest[-2 * READ_AT_ONCE :]
        for line in whole:
            yield line.decode("utf-8", "replace")

    def last(self) -> str:
        """What follows the last whole line."""
        rest, self._rest = self._rest, b""
        return rest.decode("utf-8", "replace")
