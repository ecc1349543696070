"""The process of the client that `agent-start --run` started for an agent, to end it later.

The note `clients/<agent>.json` stays on this machine, in the clone's folder in the home: a run in a
sandbox cannot choose which process is ended.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ghp_agents.core import clock, files, running
from ghp_agents.core.errors import RefusedError
from ghp_agents.core.json_file import object_file
from ghp_agents.hotpath import alive, heartbeat, process_start
from ghp_agents.hotpath.background import SPAWNED
from ghp_agents.presence.amend import amend
from ghp_agents.presence.here import CLIENTS
from ghp_agents.workspace import Workspace, now_text

MARK = "GHP_LAUNCH"  # a variable of the client and all that it starts
PROCESS = ("pid", "space", "started")  # in the part of a presence that stays on the machine


def note(ws: Workspace, agent: str, pid: int, mark: str = "") -> None:
    """Note that this process is the agent's client. It and what it starts have `mark` in the
    variable MARK."""
    space, started = heartbeat.process_space(), running.identity(pid)
    at = now_text(ws)
    fields = {"pid": pid, "space": space, "started": started, "mark": mark, "at": at}
    path = _path(ws, agent)
    path.parent.mkdir(parents=True, exist_ok=True)
    object_file(path).write(fields)


@contextmanager
def alone(ws: Workspace, agent: str) -> Iterator[None]:
    """Start and note the agent's client inside: nobody else starts one meanwhile. Raises
    GhpError."""
    with files.locked(_path(ws, agent).with_suffix(".lock")):
        refuse_second(ws, agent)
        yield


def refuse_second(ws: Workspace, agent: str) -> None:
    """Raises RefusedError if a client that was started here for the agent runs. This process may
    be that client: it becomes the next one."""
    fields = object_file(_path(ws, agent)).read()
    match [fields.get(key) for key in ("pid", "space", "started")]:
        case [int(pid), str(space), str(started)] if space == heartbeat.process_space():
            if pid == os.getpid() or running.identity(pid) != started:
                return
        case _:
            return
    at = fields.get("at")
    since = f", started {clock.age(at, ws.clock.now())}" if isinstance(at, str) else ""
    raise RefusedError(
        f"{agent} already has a client here: process {pid}{since}.",
        hint=f"`ghp agent-status {agent}` shows what it does. `ghp agent-stop {agent} --now` ends "
        "it and saves its work.",
    )


def tie(ws: Workspace, agent: str, pid: int | None, kind: str = "") -> None:
    """The end of this process, a client of this kind if known, is the end of the agent, as for a
    client whose hooks name it. None: of no process. Raises OSError."""
    own: dict[str, Any] = {}
    if pid is not None:
        own = {
            "pid": pid,
            "space": heartbeat.process_space(),
            "started": process_start.started(pid),
        }

    def change(record: dict[str, Any]) -> bool:
        kept = {k: v for k, v in record.get("local", {}).items() if k not in PROCESS}
        record |= {"local": kept | own} | ({"kind": kind} if kind else {})
        return True

    amend(ws, agent, change)


def begin_session(ws: Workspace, agent: str) -> None:
    """A client starts for the agent, with a session of its own. The session that it had has ended,
    unless another process of it lives. Raises OSError."""

    def change(record: dict[str, Any]) -> bool:
        local = record.get("local", {})
        is_own = (local.get("pid"), local.get("space")) == (os.getpid(), heartbeat.process_space())
        if "session" not in local or (not is_own and alive.process_lives(record)):
            return False
        left = [*local.get("left", ()), local["session"]][-3:]
        record["local"] = {k: v for k, v in local.items() if k != "session"} | {"left": left}
        record.pop("session", None)
        return True

    amend(ws, agent, change)


def runs_any(ws: Workspace) -> bool:
    """Whether a client that was started here runs."""
    notes = sorted(Path(ws.home_folder, CLIENTS).glob("*.json"))
    return any(_runs(object_file(path).read()) for path in notes)


def _runs(fields: Mapping[str, object]) -> bool:
    match [fields.get(key) for key in ("pid", "space", "started")]:
        case [int(pid), str(space), str(started)] if space == heartbeat.process_space():
            return running.identity(pid) == started
    return False


def forget(ws: Workspace, agent: str) -> None:
    """The client was not started, or has ended."""
    _path(ws, agent).unlink(missing_ok=True)


def end(ws: Workspace, agent: str) -> bool | None:
    """End the agent's client. False: it had ended already; None: none was started here. Raises
    GhpError."""
    fields = object_file(_path(ws, agent)).read()
    match [fields.get(key) for key in ("pid", "space", "started")]:
        case [int(pid), str(space), str(started)] if pid > 1 and not isinstance(pid, bool):
            if space != heartbeat.process_space():
                return None  # in another container
        case _:
            return None
    ended = running.end(pid, started, ws.clock.wait)
    forget(ws, agent)
    return ended


def noted(ws: Workspace) -> list[str]:
    """The agents whose client was started here."""
    return sorted(path.stem for path in Path(ws.home_folder, CLIENTS).glob("*.json"))


def ended(ws: Workspace, agents: Iterable[str]) -> list[str]:
    """The agents whose client was started here and has ended, and that no other process of this
    machine works for. Only Linux shows it; elsewhere there are none."""
    if sys.platform != "linux":
        return []
    marks = {agent: _mark_of_ended(ws, agent) for agent in agents}
    busy = _marks_in_use() | {ws.environ.get(MARK, "")} if any(marks.values()) else set()
    return [agent for agent, mark in marks.items() if mark and mark not in busy]


def _mark_of_ended(ws: Workspace, agent: str) -> str:
    """The mark of an agent's client that has ended; empty for any other."""
    fields = object_file(_path(ws, agent)).read()
    match [fields.get(key) for key in ("pid", "space", "started", "mark")]:
        case [int(pid), str(space), str(started), str(mark)] if space == heartbeat.process_space():
            runs = running.identity(pid) == started
            return "" if runs or alive.process_lives(ws.presence(agent) or {}) else mark
    return ""


def _marks_in_use() -> set[str]:
    """The marks of processes that run. What sends news in the background works for nobody."""
    name, background = f"{MARK}=".encode(), f"{SPAWNED}=".encode()
    return {
        word.removeprefix(name).decode("utf-8", "replace")
        for _, variables in running.environments()
        if not any(word.startswith(background) for word in variables)
        for word in variables
        if word.startswith(name)
    }


def _path(ws: Workspace, agent: str) -> Path:
    return Path(ws.home_folder, CLIENTS, f"{agent}.json")
