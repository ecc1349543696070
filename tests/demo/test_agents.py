"""The demo's agents send heartbeats as the hooks of clients do."""

import json
from pathlib import Path

import pytest

from ghp_agents.core.clock import SystemClock
from ghp_agents.demo.agents import Part
from ghp_agents.demo.sandbox import Sandbox
from tests.support.git import git


@pytest.mark.slow
def test_an_agent_sends_a_heartbeat_before_each_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Sandbox(tmp_path, SystemClock())
    (place.root / "home").mkdir(parents=True)
    folder = place.worktree("worker-1")
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / ".ghp").mkdir()
    (folder / ".ghp/config.json").write_text('{"agents": {"throttle": 0}}')
    monkeypatch.chdir(folder)
    agent = Part(place, "worker-1")
    positions = []
    for _ in range(3):
        agent.ghp("agent-leases")
        (presence,) = folder.glob(".git/ghp/agents/worker-1.json")
        positions.append(json.loads(presence.read_text())["seq"])
    assert positions == [positions[0], positions[0] + 1, positions[0] + 2]
