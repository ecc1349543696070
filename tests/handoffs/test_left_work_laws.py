"""Whatever becomes of agents, their claims and their clones: when all have synced, the work of who
ended is in every clone, and nothing is missing that a clone had sent.

The commands, git and the agents' processes are real; who does what is drawn from a seed.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from ghp_agents.core.ids import issue_of_branch
from ghp_agents.git import worktree_admin
from ghp_agents.handoffs.record import PATCHES
from ghp_agents.hotpath import alive
from ghp_agents.hotpath.locate import walk_up
from ghp_agents.locks.names import claim_name
from ghp_agents.wiring import App
from ghp_agents.workspace import agent_named_in
from tests.support import repos
from tests.support.ghp import Result, invoke, succeed
from tests.support.thorough import count

STEPS, EACH, SAMPLE = 1_000_000, 20, 1  # of all schedules, of one; schedules in each run
ISSUES = 3
WEIGHTS = {
    "starts": 6, "writes": 8, "dies": 4, "syncs": 4, "gives": 2, "steals": 2, "releases": 2,
    "closes": 1, "stops": 2, "removes": 1,
}  # fmt: skip


class LeftWorld:
    """Three clones, an agent in each, and what they wrote."""

    def __init__(self, clones: list[Path], seed: int) -> None:
        self.random = Random(seed)
        self.clones = dict(zip(("worker-1", "worker-2", "worker-3"), clones, strict=True))
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.places: dict[str, Path] = {}
        self.sent: set[str] = set()  # ids of records that a removed clone had sent
        self.written = 0
        first = clones[0]
        succeed(first, *(f"agent-issue new Task{n} --as @me" for n in range(ISSUES)))
        self.sync_all()

    def run(self, line: str, folder: Path, env: dict[str, str] | None = None) -> Result:
        """A command, which may be refused."""
        done = invoke(line, folder, env)
        assert done.code in (0, 3), (line, done)
        return done

    def step(self, kind: str) -> None:
        """One thing that happens."""
        agent = self.random.choice([*self.clones])
        issue, clone = self.random.randrange(ISSUES) + 1, self.clones[agent]
        other = self.clones[self.random.choice([*self.clones])]
        match kind:
            case "starts":
                self.start(agent, clone, issue)
            case "writes" if agent in self.processes and agent in self.places:
                self.written += 1
                (self.places[agent] / f"work-{self.written}.txt").write_text(_word(self.written))
            case "dies" if agent in self.processes:
                self.end(agent)
            case "syncs":
                self.run("agent-sync --as @me", clone)
            case "gives":
                self.run(f"agent-release {issue} --to {agent} --as @me", other)
            case "steals" if agent in self.processes:
                self.run(f"agent-claim {issue} --steal --reason now --as {agent}", clone)
            case "releases":
                self.run(f"agent-release {issue} --as @me", other)
            case "closes":
                self.run(f"agent-issue close {issue} --as @me", other)
            case "stops" if agent in self.processes:
                invoke(f"agent-stop {agent} --now --as @me", other)
            case "removes" if len(self.clones) > 2:
                self.remove(agent, clone)

    def start(self, agent: str, clone: Path, issue: int) -> None:
        """A new client of the agent, unless one runs, and an issue for it."""
        if agent not in self.processes:
            self.processes[agent] = subprocess.Popen(["sleep", "1000"])
        env = {"GHP_AGENT_PID": str(self.processes[agent].pid)}
        done = invoke(f"agent-start {issue} --as {agent} --json", clone, env)
        if done.code == 0:
            self.places[agent] = Path(json.loads(done.out)["path"])

    def end(self, agent: str) -> None:
        """Its process is killed."""
        process = self.processes.pop(agent)
        process.kill()
        process.wait()
        self.places.pop(agent, None)

    def remove(self, agent: str, clone: Path) -> None:
        """The clone is deleted after a sync: what it had not sent is gone with it."""
        self.run("agent-sync --as @me", clone)
        self.sent |= {entry.id for entry in App(clone, os.environ).store.ledger()}
        if agent in self.processes:
            self.end(agent)
        del self.clones[agent]
        shutil.rmtree(clone)

    def sync_all(self) -> None:
        """All clones hear of each other, and of what that makes them send."""
        for _ in range(3):
            for clone in self.clones.values():
                succeed(clone, "agent-sync --as @me")

    def check(self) -> None:
        """The laws."""
        self.sync_all()
        stores = [App(clone, os.environ).store for clone in self.clones.values()]
        ids = [{entry.id for entry in store.ledger()} for store in stores]
        assert all(known == ids[0] for known in ids)
        assert self.sent <= ids[0]
        left = [*self._left()]
        assert left or not self.written, "nothing was left, so nothing was tried"
        for place, text in left:
            for store in stores:
                patches = store.snapshot().files(PATCHES).values()
                assert any(text.encode() in patch for patch in patches), (place, text)

    def _left(self) -> Iterator[tuple[Path, str]]:
        """What lies in the worktrees of agents that have ended, or have not the issue."""
        for clone in self.clones.values():
            app = App(clone, os.environ)
            holders = {lock.name: lock.holder for lock in app.locks.known()}
            for checkout in worktree_admin.listed(clone):
                place = walk_up(str(checkout.path))
                agent = agent_named_in(place.git_dir) if place else ""
                issue = issue_of_branch(checkout.branch or "")
                if not agent or issue is None:
                    continue
                lives = alive.lives(app.ws.folders, agent, app.ws.clock.now())
                if not lives or holders.get(claim_name(issue)) != agent:
                    for path in sorted(checkout.path.glob("work-*.txt")):
                        yield path, path.read_text()


def _word(number: int) -> str:
    return f"the precious line {number} of somebody\n"


@pytest.mark.slow
def test_no_work_of_who_ended_is_out_of_reach(templates: repos.Templates, tmp_path: Path) -> None:
    for seed in range(count(STEPS // EACH, SAMPLE)):
        (tmp_path / f"{seed}").mkdir()
        remote = repos.copy_remote(templates, tmp_path / f"{seed}/remote.git")
        folders = [tmp_path / f"{seed}/clone-{number}" for number in (1, 2, 3)]
        clones = [repos.copy_clone(templates, folder, remote) for folder in folders]
        world = LeftWorld(clones, seed)
        kinds = world.random.choices([*WEIGHTS], [*WEIGHTS.values()], k=EACH)
        try:
            for kind in kinds:
                world.step(kind)
            world.check()
        except AssertionError as error:
            raise AssertionError(f"Seed {seed}, {kinds}: {error}") from error
        finally:
            for agent in [*world.processes]:
                world.end(agent)
