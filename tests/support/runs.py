"""Runs of scripted clients: a supervisor that a test steps by hand, on a clock that it sets."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core.clock import SystemClock
from ghp_agents.runs import folder, processes, runners
from ghp_agents.runs.launch import RunCommand
from ghp_agents.runs.policy import RunLimits
from ghp_agents.runs.record import ENDED, RunRecord
from ghp_agents.runs.supervisor import Plan, Supervisor
from ghp_agents.wiring import App
from tests.support.clock import ManualClock
from tests.support.ghp import succeed
from tests.support.waiting import until

SPEAKS = 'echo \'{"type":"system","session_id":"s-1"}\''
STEPS = """echo '{"type":"assistant","message":{"id":"m-1"}}'"""  # a model has answered
STAYS = "sleep 1000"
WORKS = f"""
echo "$GHP_RUN" > work.txt; git add . >/dev/null; git commit -qm "Work"
{sys.executable} -m ghp_agents agent-finish >/dev/null 2>&1
"""
RUN = RunRecord(
    "0123456789ab", "worker-1", 1, "agent", "/tmp/tree", "agent/1", "2026-01-01T00:00:00Z",
    "boot", 10.0,
)  # fmt: skip


class Shift(NamedTuple):
    """A clone, its clock, and what supervisors have said."""

    repo: Path
    clock: ManualClock
    lines: list[str]
    supervisors: list[Supervisor]

    def app(self, name: str | None = None, at: Path | None = None) -> App:
        """The parts of the program for an agent."""
        return App(at or self.repo, os.environ, name=name, clock=self.clock)

    def supervisor(
        self,
        script: str,
        *agents: str,
        limits: RunLimits | None = None,
        once: bool = False,
        keep: Sequence[str] = (),
    ) -> Supervisor:
        """A supervisor whose client is a shell script."""
        path = self.repo.parent / "agent.sh"
        path.write_text(script)
        command = RunCommand(runners.find(f"sh {path} {{prompt_file}}"), keep=tuple(keep))
        plan = Plan(agents or ("worker-1",), command, limits or RunLimits(), once)

        def make(at: Path, name: str) -> App:
            return self.app(name, at)

        result = Supervisor(self.app().ws, make, plan, self.lines.append)
        self.supervisors.append(result)
        result.adopt()
        return result

    def runs(self) -> list[RunRecord]:
        """The runs of the clone, oldest first."""
        return folder.read_all(self.app().ws)

    def last(self) -> RunRecord:
        """The last run."""
        return self.runs()[-1]

    def ended(self, run: RunRecord | None = None) -> None:
        """Wait until the client of a run has ended; by default of the last one."""
        ended(folder.of(self.app().ws, (run or self.last()).id))

    def spoke(self) -> None:
        """Wait until the client of the last run has printed something."""
        place = folder.of(self.app().ws, self.last().id)
        until(lambda: folder.log_size(place))

    def prompt(self) -> str:
        """What the client of the last run read."""
        return (folder.of(self.app().ws, self.last().id) / "prompt.md").read_text()

    def end_all(self) -> None:
        """Nothing is left of any run."""
        for run in self.runs():
            processes.end(run, SystemClock().wait)
        for supervisor in self.supervisors:
            supervisor.forget_children()


def ended(place: Path) -> None:
    """Wait until the client of a run has ended."""
    until(lambda: folder.exit_code(place) is not None)


def shift_of(repo: Path, *titles: str) -> Shift:
    """A clone with these issues."""
    succeed(repo, *(f"agent-issue new '{title}' --as @me" for title in titles))
    return Shift(repo, ManualClock(), [], [])


def without_ids(lines: list[str]) -> list[str]:
    """The lines with every id of a run as R-."""
    words = ([w if not w.startswith("R-") else "R-" for w in line.split(" ")] for line in lines)
    return [" ".join(word) for word in words]


def states(runs: list[RunRecord]) -> list[tuple[str, int, str]]:
    """Agent, issue and outcome of each run; `running` if it has none."""
    return [
        (run.agent, run.issue, run.outcome if run.state == ENDED else "running") for run in runs
    ]
