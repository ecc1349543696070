"""What an agent was told already: the ids of the news that were delivered to it, in its clone."""

import json
from collections.abc import Iterable
from pathlib import Path

from ghp_agents.core import files
from ghp_agents.core.ids import AgentName, agent_name
from ghp_agents.core.json_file import texts_file
from ghp_agents.workspace import Workspace

MOST = 20_000  # ids kept for an agent: years of news


def mark_told(ws: Workspace, agent: AgentName, ids: Iterable[str]) -> None:
    """Remember the delivered ids, after the delivery. If killed in between, it is repeated."""
    delivered = [*dict.fromkeys([*_read(ws, agent), *ids])]
    content = json.dumps(delivered[-MOST:]).encode()
    for folder in ws.folders:
        if files.usable(Path(folder)):
            files.write_atomically(_path(folder, agent), content)
            return


def is_told(ws: Workspace, agent: AgentName, name: str) -> bool:
    """Whether the item `name` was delivered to `agent`."""
    return name in delivered_ids(ws, agent)


def delivered_ids(ws: Workspace, agent: AgentName) -> set[str]:
    """The ids of all folders. One that cannot be read counts as empty: better twice than never."""
    return set(_read(ws, agent))


def _read(ws: Workspace, agent: AgentName) -> list[str]:
    """The ids of all folders, in each the oldest first."""
    read = (texts_file(_path(folder, agent)).read() for folder in ws.folders)
    return [identifier for ids in read for identifier in ids]


def _path(folder: str, agent: AgentName) -> Path:
    return Path(folder, "told", f"{agent_name(agent)}.json")
