"""The ids of the news that were delivered to an agent, in its clone.

New ids are appended to a log. A log that has grown is merged into a list, which is a second file.
"""

import contextlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from ghp_agents.core import files
from ghp_agents.core.ids import AgentName, agent_name
from ghp_agents.core.json_file import texts_file
from ghp_agents.hotpath import own_file
from ghp_agents.workspace import Workspace

MOST = 20_000  # ids kept for an agent: years of news
LOG_BYTES = 64_000  # of a log that is taken up into the list
SETTLED = "settled/"  # before the id of a question that needs no answer any more


def mark_told(ws: Workspace, agent: AgentName, ids: Iterable[str]) -> None:
    """Remember the delivered ids, after the delivery. If killed in between, it is repeated."""
    lines = (json.dumps(item) for item in ids)
    content = "".join(f"\n{line}\n" for line in lines).encode()  # the last one may be cut off
    for folder in ws.folders:
        if files.usable(Path(folder)):
            log = _log(folder, agent)
            log.parent.mkdir(parents=True, exist_ok=True)
            own_file.append(str(log), content)
            if log.stat().st_size > LOG_BYTES:
                _take_up(ws, agent, folder)
            return


def _take_up(ws: Workspace, agent: AgentName, folder: str) -> None:
    """Rewrite the list with what is in the log."""
    log = _log(folder, agent)
    size = log.stat().st_size
    files.write_atomically(_list(folder, agent), json.dumps(_read(ws, agent)).encode())
    if log.stat().st_size == size:  # else another process was told something meanwhile
        log.unlink()


def is_told(ws: Workspace, agent: AgentName, name: str) -> bool:
    """Whether the item `name` was delivered to `agent`."""
    return name in delivered_ids(ws, agent)


def delivered_ids(ws: Workspace, agent: AgentName) -> set[str]:
    """The ids of all folders. One that cannot be read counts as empty: better twice than never."""
    return set(_read(ws, agent))


class Told:
    """The ids that were delivered to an agent, for a process that asks often: only what was added
    is read."""

    def __init__(self, ws: Workspace, agent: AgentName) -> None:
        self._ws, self._agent = ws, agent
        self._ids: set[str] = set()
        self._lists: list[tuple[int, int] | None] = []
        self._sizes: list[int] = []

    def __contains__(self, name: str) -> bool:
        lists = [_identity(_list(folder, self._agent)) for folder in self._ws.folders]
        logs = [_log(folder, self._agent) for folder in self._ws.folders]
        sizes = [log.stat().st_size if log.exists() else 0 for log in logs]
        if lists != self._lists or any(x < y for x, y in zip(sizes, self._sizes, strict=True)):
            self._ids = delivered_ids(self._ws, self._agent)
        else:
            for log, size in zip(logs, self._sizes, strict=True):
                self._ids.update(_lines(log, size))
        self._lists, self._sizes = lists, sizes
        return name in self._ids


def _read(ws: Workspace, agent: AgentName) -> list[str]:
    """The ids of all folders, in each the oldest first. A log is read before its list, into which
    it may be taken up meanwhile."""
    logs = [[*_lines(_log(folder, agent))] for folder in ws.folders]
    lists = [texts_file(_list(folder, agent)).read() for folder in ws.folders]
    pairs = zip(lists, logs, strict=True)
    return [*dict.fromkeys(identity for pair in pairs for ids in pair for identity in ids)][-MOST:]


def _lines(log: Path, start: int = 0) -> Iterator[str]:
    """The ids in a log, or in its part after `start` bytes."""
    try:
        with log.open("rb") as stream:
            stream.seek(start)
            lines = stream.read().splitlines()
    except OSError:
        return
    for line in lines:
        with contextlib.suppress(ValueError):  # cut off by a crash
            identity = json.loads(line)
            if isinstance(identity, str):
                yield identity


def _identity(path: Path) -> tuple[int, int] | None:
    """A value that changes if the file is replaced."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino


def _list(folder: str, agent: AgentName) -> Path:
    return Path(folder, "told", f"{agent_name(agent)}.json")


def _log(folder: str, agent: AgentName) -> Path:
    return Path(folder, "told", f"{agent_name(agent)}.log")
