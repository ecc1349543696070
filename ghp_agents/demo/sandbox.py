"""The demo's sandbox: a bare remote, two clones with two worktrees each, dependent issues."""

import itertools
import json
import math
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ghp_agents.core import process
from ghp_agents.core.errors import GhpError
from ghp_agents.git import process as git
from ghp_agents.ports import Clock
from ghp_agents.wiring import App

PERSON = "Dana Demo"
COMMAND_TIMEOUT_S = 60.0  # seconds for one command on a busy machine
# Short intervals: the demo shows in a minute what normally takes half an hour.
CONFIG = """\
{
  "agents": {
    "deadAfter": 1200,
    "syncEvery": 1,
    "throttle": 0
  }
}
"""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The folder of the demo."""

    root: Path
    clock: Clock

    @property
    def remote(self) -> Path:
        """The bare remote."""
        return self.root / "remote.git"

    def clone(self, name: str) -> Path:
        """The main worktree of a clone, `a` or `b`."""
        return self.root / f"clone-{name}"

    def worktree(self, agent: str) -> Path:
        """The worktree of an agent: the first two work in clone a, the others in clone b."""
        return self.root / "worktrees" / agent

    def environ(self, agent: str | None = None, pid: int | None = None) -> dict[str, str]:
        """The environment for a command, without the person's own settings."""
        kept = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
        kept["GHP_ANCESTORS"] = "0"  # the demo may run in the shell of a coding client
        home = str(self.root / "home")
        env = kept | {"HOME": home, "GHP_BACKGROUND": "0", "GIT_CONFIG_NOSYSTEM": "1"}
        if agent:
            env["GHP_AGENT"] = agent
        if pid:
            env["GHP_AGENT_PID"] = str(pid)
        return env

    def app(self, clone: str) -> App:
        """The app, for a person in a clone."""
        return App(self.clone(clone), self.environ(), clock=self.clock)


def ghp(cwd: Path, environ: Mapping[str, str], *args: str, expected: int = 0) -> str:
    """Run a command; return its output. Raises GhpError unless it exits with `expected`."""
    ended = run(cwd, environ, *args)
    if ended.code != expected:
        raise GhpError(
            f"`ghp {' '.join(args)}` exited with {ended.code}, not {expected}: {ended.err.strip()}",
            hint="Run `ghp agent-demo --keep` and look into the folder.",
        )
    return ended.out.strip()


def run(cwd: Path, environ: Mapping[str, str], *args: str) -> process.Ended:
    """Run a command."""
    command = [sys.executable, "-P", "-m", "ghp_agents", *args]
    return process.run(command, cwd=cwd, env=environ, timeout=COMMAND_TIMEOUT_S)


def make(place: Sandbox) -> None:
    """Make the repositories, the worktrees and the issues."""
    (place.root / "home").mkdir(parents=True)
    run_git(place.root, "init", "-q", "--bare", "-b", "main", str(place.remote))
    for name in ("a", "b"):
        run_git(place.root, "clone", "-q", str(place.remote), str(place.clone(name)))
        run_git(place.clone(name), "config", "user.name", PERSON)
        run_git(place.clone(name), "config", "user.email", "dana@example.invalid")
        if name == "a":
            _first_commit(place)
    for agent, name in (("worker-1", "a"), ("worker-2", "a"), ("worker-3", "b"), ("worker-4", "b")):
        folder = str(place.worktree(agent))
        run_git(
            place.clone(name), "worktree", "add", "-q", "-b", f"agent/{agent}/start", folder, "main"
        )
        ghp(place.worktree(agent), place.environ(), "agent-whoami", "--set", agent)
    _set_pace(place, _issues(place))


def _first_commit(place: Sandbox) -> None:
    folder = place.clone("a")
    (folder / ".ghp").mkdir(exist_ok=True)
    (folder / ".ghp/config.json").write_text(CONFIG, encoding="utf-8")
    (folder / "README.md").write_text("# A small tool\n", encoding="utf-8")
    run_git(folder, "checkout", "-q", "-B", "main")
    run_git(folder, "add", "-A")
    run_git(folder, "commit", "-q", "-m", "Start")
    run_git(folder, "push", "-q", "origin", "main")


def stale_after(sync_s: float) -> int:
    """Seconds without a heartbeat after which an agent is stale, if a sync takes `sync_s`.

    An agent runs at most ten commands as long as a sync before its clone sends its next heartbeat.
    """
    return max(3, math.ceil(10 * sync_s))


def _set_pace(place: Sandbox, sync_s: float) -> None:
    settings = place.root / "home/.config/ghp-cli/config.json"
    settings.parent.mkdir(parents=True)
    agents = {"staleAfter": stale_after(sync_s)}
    settings.write_text(json.dumps({"agents": agents}), encoding="utf-8")


def _issues(place: Sandbox) -> float:
    """Make the issues; return the seconds of the slower of two syncs."""
    folder, env = place.clone("a"), place.environ()
    for title, more in (
        ("Write the parser", ["--priority", "high"]),
        ("Write the formatter", ["--priority", "high"]),
        ("Write the command line", ["--blocked-by", "1", "--blocked-by", "2"]),
        ("Write the manual", ["--blocked-by", "3"]),
        ("Write the benchmark", ["--priority", "low"]),
    ):
        ghp(folder, env, "agent-issue", "new", title, *more)
    times = [place.clock.now()]
    for clone in (folder, place.clone("b")):
        ghp(clone, env, "agent-sync")
        times.append(place.clock.now())
    return max(end - begin for begin, end in itertools.pairwise(times))


def run_git(cwd: Path, *args: str) -> str:
    """Run git without the machine's settings; return its output."""
    return git.check(args, cwd=cwd, env={"GIT_CONFIG_NOSYSTEM": "1"}).text
