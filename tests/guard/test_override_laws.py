"""Laws of edits in random order: a refusal names who lives, and every override is recorded."""

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.ids import AgentName
from ghp_agents.guard import evaluate, override, overriding
from ghp_agents.hotpath import alive
from ghp_agents.hotpath.policy import Verdict
from ghp_agents.wiring import App
from tests.support.ghp import succeed
from tests.support.git import commit

AGENTS = [AgentName(f"worker-{number}") for number in (1, 2, 3)]
PATHS = ("a.txt", "b.txt")
STEPS = 25


class World:
    """Three agents, two of them in one worktree, that edit two files."""

    def __init__(self, repo: Path, other: Path) -> None:
        self.folder = dict(zip(AGENTS, (repo, repo, other), strict=True))
        self.going_on: set[tuple[str, str, str]] = set()  # who, the file, in spite of whom

    def app(self, agent: AgentName) -> App:
        return App(self.folder[agent], os.environ, name=agent)

    def edit(self, agent: AgentName, path: str) -> Verdict:
        (verdict,) = evaluate.judge(self.app(agent).offline, agent, [path], editing=True)
        return verdict

    def lives(self, agent: str) -> bool:
        ws = self.app(AGENTS[0]).ws
        return alive.lives(ws.folders, agent, ws.clock.now()) is True

    def stop(self, agent: AgentName) -> None:
        succeed(self.folder[agent], f"agent-status --set stopped --as {agent}")
        self.going_on = {x for x in self.going_on if agent not in x}

    def start(self, agent: AgentName) -> None:
        succeed(self.folder[agent], f"agent-heartbeat --status implementing --as {agent}")

    def override(self, agent: AgentName, path: str) -> None:
        result = overriding.go_on(self.app(agent).offline, agent, [path], "it is urgent")
        self.going_on |= {(agent, x.path, x.lease.agent) for x in result.done}

    def recorded(self) -> set[tuple[str, str, str]]:
        files = self.app(AGENTS[0]).store.snapshot().files(override.FOLDER)
        records, problems = override.read_overrides(files)
        assert problems == []
        return {(str(x.by), path, x.agent) for x in records for path in x.paths}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_refusal_ends_with_its_holder_and_every_override_is_recorded(
    repo: Path, worktree: Callable[[Path, str], Path], seed: int
) -> None:
    chance = random.Random(seed)
    commit(repo, dict.fromkeys(PATHS, "1\n"))
    succeed(repo, "agent-init")
    world = World(repo, worktree(repo, "147"))
    for agent in AGENTS:
        world.start(agent)
    for _ in range(STEPS):
        agent, path = chance.choice(AGENTS), chance.choice(PATHS)
        act = chance.choice(["edit"] * 5 + ["override"] * 2 + ["stop"])
        if act == "stop":
            world.stop(agent)
            continue
        world.start(agent)
        if act == "override":
            world.override(agent, path)
        verdict = world.edit(agent, path)
        if verdict.is_refused:
            holder = AgentName(str(verdict.holder))
            assert holder != agent
            assert world.lives(holder)
            assert act != "override", verdict
            assert (agent, path, holder) not in world.going_on
            if chance.random() < 0.3:
                world.stop(holder)
                assert world.edit(agent, path).holder != holder
        assert world.going_on <= world.recorded()
    everybody = {agent: world.edit(agent, path) for agent in AGENTS if world.lives(agent)}
    assert not everybody or not all(verdict.is_refused for verdict in everybody.values())
