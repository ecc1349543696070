"""`ghp agent-work` with 50 finished runs: what a run costs beside its client, from the claim to
the report of its end, and what the supervisor needs while it has nothing to do."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from bench.figure import Figure
from bench.place import Place, git, open_app
from ghp_agents.runs import folder
from ghp_agents.runs.record import ENDED, FINISHED, RunRecord

RUNS = 50
START_S, CORE, MEGABYTES = 1.5, 1.0, 60.0  # the bounds
MINUTE = 60.0
TICKS = os.sysconf("SC_CLK_TCK")
FINISHED_RUN = RunRecord(
    "", "night", 1, "sh", "/nowhere", "agent/1", "2026-01-01T00:00:00Z", "boot", 1.0,
    state=ENDED, outcome=FINISHED, why="pull request #3",
)  # fmt: skip
# It does nothing, so the run fails, is repeated, and a person is asked: that is counted, too.
CLIENT = "true {prompt_file}"


def measure(place: Place) -> list[Figure]:
    """The cost of runs, and of none."""
    clone = place.clones(place.remote("work"), 1)[0]
    app = open_app(clone)
    for number in range(RUNS):
        folder.write(app.ws, FINISHED_RUN._replace(id=f"{number:012x}", issue=number + 10))
    git(clone, "config", "user.name", "Ada")
    new = [sys.executable, "-m", "ghp_agents", "agent-issue", "new", "One", "--as", "@me"]
    subprocess.run(new, cwd=clone, check=True, capture_output=True)
    with _supervisor(clone) as process:
        assert process.stderr
        process.stderr.readline()  # its agents
        before = _used(process.pid)
        while "gave up" not in process.stderr.readline():
            pass
        runs = (_used(process.pid) - before) / 2
        time.sleep(5.0)  # the last exchange
        span = 5.0 if place.quick else MINUTE
        before = _used(process.pid)
        time.sleep(span)
        idle = (_used(process.pid) - before) / span * 100
        memory = _resident(process.pid)
        process.send_signal(signal.SIGTERM)
    name = f"agent-work with {RUNS} finished runs"
    return [
        Figure("work", "a run, beside its client", runs, "s of processor time", START_S),
        Figure("work", f"{name}: {span:.0f} s without work", idle, "% of a core", CORE),
        Figure("work", f"{name}: memory", memory, "MB", MEGABYTES),
    ]


def _supervisor(clone: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "ghp_agents", "agent-work", "--agent", "night"]
    return subprocess.Popen(
        [*command, "--runner", CLIENT, "--pause", "0s"], cwd=clone,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def _used(pid: int) -> float:
    """Seconds of processor time of a process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(each) for each in fields[11:15]) / TICKS


def _resident(pid: int) -> float:
    line = next(x for x in Path(f"/proc/{pid}/status").read_text().splitlines() if "VmRSS" in x)
    return int(line.split()[1]) / 1024
