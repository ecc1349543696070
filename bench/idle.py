"""What ten agents of one clone start while they do nothing for an hour of simulated time: their
sessions run, the last step of each was 47 s after that of another, and no hook fires. The clone's
one background process reports to other clones that they live. Processes are counted by git's own
trace; git's helpers for the remote are beside them. With sessions of Claude Code, `claude agents
--json` also runs once with each report. The clone starts nothing else."""

import os
import subprocess
import sys
from pathlib import Path

from bench.figure import Figure
from bench.place import Place
from ghp_agents.core.ids import AgentName
from ghp_agents.presence.service import heartbeat
from ghp_agents.sync import process_watch, service
from ghp_agents.wiring import App
from tests.support.clock import ManualClock
from tools.processes import Calls, calls_in

AGENTS = 10
APART = 47.0  # seconds
HOUR = 3_600.0
MOST = 100  # git processes in the hour
EXCHANGES = 15


class _Hour(ManualClock):
    """A clock that ends a process when the hour is over."""

    process: "subprocess.Popen[bytes] | None" = None
    end = 0.0

    def wait(self, seconds: float) -> None:
        super().wait(seconds)
        if self.process and self.now() >= self.end:
            self.process.kill()
            self.process.wait()


def measure(place: Place) -> list[Figure]:
    """The git processes, and the exchanges with the remote."""
    clone = place.clones(place.remote("idle"), 1)[0]
    trace = place.new("trace")
    calls = _hour(clone, trace)
    fetches = sum(times for words, times in calls.own.items() if words.startswith("fetch"))
    what = f"{AGENTS} agents, an hour"
    return [
        Figure("idle", f"{what}: git processes", calls.total, "processes", MOST,
               note=f"{calls.of_git} of git's own beside them"),
        Figure("idle", f"{what}: exchanges", fetches, "exchanges", EXCHANGES),
    ]  # fmt: skip


def _hour(clone: Path, trace: Path) -> Calls:
    clock = _Hour()
    app = App(clone, dict(os.environ), name="worker-1", clock=clock)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as session:
        for number in range(1, AGENTS + 1):
            name = f"worker-{number}"
            app.ws.environ.update(GHP_SESSION=name, GHP_AGENT_PID=str(session.pid))  # type: ignore[attr-defined]
            heartbeat(app.ws, app.store, AgentName(name), {"status": "waiting"})
            os.utime(app.ws.ghp_dir / f"agents/{name}.json", (clock.now(), clock.now()))
            clock.wait(APART)
        service.sync(app)
        clock.process, clock.end = session, clock.now() + HOUR
        os.environ["GIT_TRACE2_EVENT"] = str(trace)
        try:
            process_watch.watch(app)
        finally:
            del os.environ["GIT_TRACE2_EVENT"]
            session.kill()
    return calls_in(trace)
