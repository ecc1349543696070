"""Adds to an agent's presence what its machine knows of it. That is not a heartbeat."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ghp_agents.hotpath import fastjson, presence_file
from ghp_agents.workspace import Workspace


def amend(ws: Workspace, agent: str, change: Callable[[dict[str, Any]], bool]) -> bool:
    """Change the presence of `agent` while no heartbeat can. `change` returns whether there is
    anything to write, and so does this. Raises OSError.

    The file's time shows the last heartbeat, so it moves by a nanosecond only: enough to show that
    the content is new, also if the file gets the inode of an earlier one.
    """
    number, held = presence_file.hold(ws.folders, agent)
    try:
        beaten = max(map(_time, ws.folders, [agent] * len(ws.folders)))
        presences = [presence_file.presence(folder, agent) for folder in ws.folders]
        record = presence_file.newest_of(presences)
        if record is None or not change(record):
            return False
        record["seq"] += 1
        content = fastjson.encode(record)
        presence_file.write(ws.folders[number:], presences[number:], agent, content)
        for folder in ws.folders:
            if presence_file.presence(folder, agent) == record:
                os.utime(_path(folder, agent), ns=(beaten + 1, beaten + 1))
        return True
    finally:
        if held >= 0:
            os.close(held)


def _path(folder: str, agent: str) -> str:
    return f"{folder}/agents/{agent}.json"


def _time(folder: str, agent: str) -> int:
    try:
        return Path(_path(folder, agent)).stat().st_mtime_ns
    except OSError:
        return 0
