"""Clones on machines with clocks of their own, for tests of who lives; and forged presence."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ghp_agents.core.clock import to_text
from tests.state.strangers import commit, document, tree
from tests.support.ghp import Result, invoke
from tests.support.git import git

FORGER = "666f726765722e2e"


class MachineClock:
    """A machine's clock that can be set; the seconds since its start go on evenly."""

    def __init__(self, now: float = 1_750_000_000.0) -> None:
        self.wall, self.seconds, self.starts = now, 1_000.0, 1

    def now(self) -> float:
        """Seconds since the epoch, as the machine has them."""
        return self.wall

    def interval(self) -> tuple[str, float]:
        """Which start of the machine this is, and the seconds since then."""
        return f"start {self.starts}", self.seconds

    def wait(self, seconds: float) -> None:
        """Time passes."""
        self.wall += seconds
        self.seconds += seconds

    def step(self, seconds: float) -> None:
        """Somebody sets the clock; no time passes."""
        self.wall += seconds

    def restart(self) -> None:
        """The machine is started anew."""
        self.starts += 1
        self.seconds = 10.0


class Machine:
    """A clone on a machine of its own, in which one agent works."""

    def __init__(self, folder: Path, agent: str) -> None:
        self.folder, self.agent, self.clock = folder, agent, MachineClock()
        # Presence as it was when it was last looked at.
        self._files = {path.name: json.loads(path.read_text()) for path in self._presence()}

    def run(self, words: str, **environ: str) -> Result:
        """A command of the agent."""
        env = {"GHP_AGENT": self.agent, "GHP_BACKGROUND": "0", **environ}
        done = invoke(words, self.folder, env=env, clock=self.clock)
        self._stamp()
        return done

    def does(self, words: str, **environ: str) -> str:
        """A command that must succeed; what it printed."""
        done = self.run(words, **environ)
        assert done.code == 0, done.err
        return done.out

    def sync(self) -> str:
        """Exchange with the remote; what was told."""
        done = self.run("agent-sync")
        assert done.code == 0, done.err
        return done.err

    def beat(self, action: str, **environ: str) -> None:
        """A beat, and a sync that carries it."""
        self.does(f"agent-heartbeat --action '{action}'", **environ)
        self.sync()

    def status(self) -> dict[str, Any]:
        """Presence of all agents that are not gone, as it is seen from here."""
        agents: dict[str, Any] = json.loads(self.does("agent-status --json"))["agents"]
        return agents

    def liveness(self, agent: str) -> str:
        """How an agent is, as it is known here."""
        first, *_ = self.does(f"agent-status {agent} --offline").splitlines()
        return first.split(": ", 1)[1].split(",")[0]

    def _presence(self) -> Iterable[Path]:
        return (self.folder / ".git/ghp/agents").glob("*.json")

    def _stamp(self) -> None:
        """Files have this machine's time."""
        for path in self._presence():
            presence = json.loads(path.read_text())
            is_beat = "processRunsFor" not in presence and self._files.get(path.name) != presence
            self._files[path.name] = presence
            if is_beat:
                os.utime(path, (self.clock.now(), self.clock.now()))


def forge(remote: Path, agents: Mapping[str, Mapping[str, object]], clone: str = FORGER) -> None:
    """Say on a clone's ref of the remote whatever one likes of agents."""
    oid = tree(remote, {".ghp/agent-status.json": document(agents)})
    git(remote, "update-ref", f"refs/ghp/clone/{clone}", commit(remote, oid))


def presence(epoch: int, status: str, **more: object) -> dict[str, object]:
    """A presence as a forger writes it."""
    at = to_text(1_750_000_000.0)
    fields = {"issue": None, "status": status, "lastAction": "Forged", "timestamp": at}
    return {**fields, "epoch": epoch, "seq": 1, "startedAt": at, "lastProgress": at, **more}
