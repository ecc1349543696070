"""When the lines of a run's log came: notes of its supervisor beside the log, which clients print
without times. A note is the size of the log, and the seconds since the run began."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ghp_agents.hotpath import own_file
from ghp_agents.runs import folder


def note_time(place: Path, offset: int, seconds: float) -> None:
    """Note that the log had `offset` bytes of whole lines, so long after the run began."""
    with contextlib.suppress(OSError):
        own_file.append(str(place / folder.TIMES), f"{offset} {seconds:.1f}\n".encode())


def timed_lines(place: Path) -> Iterator[tuple[float | None, str]]:
    """The lines of the log, each with the seconds since the run began, as far as they are known: a
    supervisor looks once a second."""
    older = _times(place / folder.OLDER_TIMES)
    kept = _read(place / "log.1")
    yield from _timed(kept, older, older[-1][0] - len(kept) if older else 0)
    yield from _timed(_read(place / "log"), _times(place / folder.TIMES), 0)


def _timed(
    data: bytes, times: list[tuple[int, float]], begin: int
) -> Iterator[tuple[float | None, str]]:
    at, end = 0, begin
    for line in data.splitlines(keepends=True):
        end += len(line)
        while at < len(times) and times[at][0] < end:
            at += 1
        yield times[at][1] if at < len(times) else None, line.decode("utf-8", "replace").rstrip()


def _times(path: Path) -> list[tuple[int, float]]:
    times = []
    for line in _read(path).decode("ascii", "replace").splitlines():
        with contextlib.suppress(ValueError):
            offset, seconds = line.split()
            times.append((int(offset), float(seconds)))
    return times


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(folder.LOG_LIMIT + folder.LOG_KEPT)
    except OSError:
        return b""
