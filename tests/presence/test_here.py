"""The agents of a clone are those with a presence in it that have not stopped."""

from pathlib import Path

from ghp_agents.core.json_file import object_file
from ghp_agents.presence.here import agents_here
from ghp_agents.workspace import open_workspace
from tests.support.clock import ManualClock


def test_who_has_not_stopped_is_here(repo: Path) -> None:
    ws = open_workspace(repo, {}, ManualClock())
    assert agents_here(ws) == []
    folder = Path(ws.folders[0], "agents")
    folder.mkdir(parents=True)
    statuses = {"worker-2": "idle", "worker-1": "working", "worker-3": "stopped", "no name": "idle"}
    for name, status in statuses.items():
        object_file(folder / f"{name}.json").write({"status": status, "epoch": 1, "seq": 1})
    object_file(folder / "worker-4.json").write({})
    assert agents_here(ws) == ["worker-1", "worker-2"]
