"""The demo's sandbox: a bare remote, two clones with two worktrees each, dependent issues."""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ghp_agents.core import process
from ghp_agents.core.errors import GhpError
from ghp_agents.demo.scenes import DemoStage
from ghp_agents.git import process as git
from ghp_agents.ports import Clock
from ghp_agents.wiring import App

PERSON = "Dana Demo"
PROGRAM = (sys.executable, "-P", "-m", "ghp_agents")
AGAIN = "Run `ghp agent-demo --keep` and look into the folder."  # the hint after a failure
CLONES = ("a", "b")
COMMAND_TIMEOUT_S = 60.0  # seconds for one command on a busy machine
# Each command sends its records and heartbeat at once: a folder as the remote has no rate limit.
CONFIG = """\
{
  "agents": {
    "checks": ["sh check.sh"],
    "syncEvery": 0.5,
    "throttle": 0
  }
}
"""
CHECK = 'for name in *.py; do test -s "$name" || exit 1; done\n'


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The folder of the demo."""

    root: Path
    clock: Clock

    @property
    def remote(self) -> Path:
        """The bare remote."""
        return self.root / "remote.git"

    @property
    def stage(self) -> DemoStage:
        """Where the agents write the scenes of the story."""
        return DemoStage(self.root / "scenes")

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
    return run(cwd, environ, *args, expected=expected).out.strip()


def run(
    cwd: Path, environ: Mapping[str, str], *args: str, expected: int | None = None
) -> process.Ended:
    """Run a command. Raises GhpError unless it exits with `expected`, if that is given."""
    ended = process.run([*PROGRAM, *args], cwd=cwd, env=environ, timeout=COMMAND_TIMEOUT_S)
    if expected not in (None, ended.code):
        raise GhpError(
            f"`ghp {' '.join(args)}` exited with {ended.code}, not {expected}: {ended.err.strip()}",
            hint=AGAIN,
        )
    return ended


def hook(cwd: Path, environ: Mapping[str, str], event: Mapping[str, Any]) -> dict[str, Any]:
    """Run the hook of Claude Code for an event; return its decision."""
    printed = process.pipe(
        [*PROGRAM, "hook", "claude"], json.dumps(event).encode(), cwd=cwd, env=environ,
        timeout=COMMAND_TIMEOUT_S, most=100_000,
    )  # fmt: skip
    decision: dict[str, Any] = json.loads(printed or b"{}").get("hookSpecificOutput", {})
    return decision


def make(place: Sandbox) -> None:
    """Make the repositories, the worktrees and the issues."""
    make_clones(place, {
        ".ghp/config.json": CONFIG, "check.sh": CHECK, "README.md": "# A small tool\n",
    })  # fmt: skip
    (place.root / "scenes").mkdir()
    for agent, name in (("worker-1", "a"), ("worker-2", "a"), ("worker-3", "b"), ("worker-4", "b")):
        folder = str(place.worktree(agent))
        run_git(
            place.clone(name), "worktree", "add", "-q", "-b", f"agent/{agent}/start", folder, "main"
        )
        ghp(place.worktree(agent), place.environ(), "agent-whoami", "--set", agent)
    _issues(place)


def make_clones(place: Sandbox, files: Mapping[str, str]) -> None:
    """Make the remote, whose first commit has these files, and both clones of a person."""
    (place.root / "home").mkdir(parents=True)
    run_git(place.root, "init", "-q", "--bare", "-b", "main", str(place.remote))
    for name in CLONES:
        folder = place.clone(name)
        run_git(place.root, "clone", "-q", str(place.remote), str(folder))
        run_git(folder, "config", "user.name", PERSON)
        run_git(folder, "config", "user.email", "dana@example.invalid")
        if name == CLONES[0]:
            (folder / ".ghp").mkdir()
            for path, text in files.items():
                (folder / path).write_text(text, encoding="utf-8")
            run_git(folder, "checkout", "-q", "-B", "main")
            run_git(folder, "add", "-A")
            run_git(folder, "commit", "-q", "-m", "Start")
            run_git(folder, "push", "-q", "origin", "main")
        ghp(folder, place.environ(), "agent-trust", "--yes")


def dirty(place: Sandbox) -> list[str]:
    """The clones whose main worktrees have changes."""
    return [name for name in CLONES if run_git(place.clone(name), "status", "--porcelain")]


def _issues(place: Sandbox) -> None:
    folder, env = place.clone("a"), place.environ()
    for title, more in (
        ("Write the parser", ["--priority", "high"]),
        ("Write the formatter", ["--priority", "high"]),
        ("Write the command line", ["--blocked-by", "1", "--blocked-by", "2"]),
        ("Write the benchmark", ["--priority", "low"]),
    ):
        ghp(folder, env, "agent-issue", "new", title, *more)
    for clone in (folder, place.clone("b")):
        ghp(clone, env, "agent-sync")


def run_git(cwd: Path, *args: str) -> str:
    """Run git without the machine's settings; return its output."""
    return git.check(args, cwd=cwd, env={"GIT_CONFIG_NOSYSTEM": "1"}).text
