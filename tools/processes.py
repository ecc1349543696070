"""The git processes that each command starts: a table of `python -m tools.measures --git`.

Real commands run as processes in a real clone with a remote. Git's own trace counts: one file per
git process. A process that git started itself, such as the remote's end, counts separately.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
GIT_CONFIG = (
    "[user]\n\tname = A Person\n\temail = person@example.invalid\n[init]\n\tdefaultBranch = main\n"
)
_FLAGS = ("-c", "--git-dir")  # each with a value


class Calls(NamedTuple):
    """The git processes of one command."""

    own: Counter[str]  # by their arguments
    of_git: int  # that git itself started

    @property
    def total(self) -> int:
        """How many this program started."""
        return self.own.total()


# Each command, in the order in which they run in one clone. Those with a name are counted.
STEPS: tuple[tuple[str, str, str], ...] = (
    ("", ".", "agent-whoami --set worker-1"),
    ("", ".", "agent-issue new 'Parse files'"),
    ("agent-issue new", ".", "agent-issue new 'Write files'"),
    ("", ".", "agent-claim 1"),
    ("agent-claim of a held issue", ".", "agent-claim 1"),
    ("agent-lease", ".", "agent-lease src/a.py"),
    ("agent-escalate", ".", "agent-escalate 'Which format?' --issue 1"),
    ("agent-handoff --checkpoint", ".", "agent-handoff --checkpoint --note 'Write the parser'"),
    ("agent-status", ".", "agent-status"),
    ("", ".", "agent-sweep --as @me"),
    ("agent-sweep, nothing to do", ".", "agent-sweep --as @me"),
    ("", ".", "agent-sync --publish"),
    ("", ".", "agent-issue edit 2 --priority high"),
    ("agent-sync --publish", ".", "agent-sync --publish"),
    ("agent-start", ".", "agent-start 2"),
    ("", "work", "git commit --quiet --allow-empty --message Work"),
    ("agent-finish", "work", "agent-finish"),
)


def count_all() -> dict[str, Calls]:
    """The git processes of each counted command."""
    with tempfile.TemporaryDirectory(prefix="processes-") as name:
        return World(Path(name)).run()


class World:
    """A remote and a clone of it, in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._clone = folder / "clone"
        home = folder / "home"
        home.mkdir()
        (home / ".gitconfig").write_text(GIT_CONFIG)
        foreign = ("GHP_", "GIT_", "GH_", "GITHUB_", "XDG_", "CLAUDE", "CI")
        kept = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
        self._env = kept | {
            "HOME": str(home),
            "GHP_ANCESTORS": "0",
            "GHP_BACKGROUND": "0",
            "GIT_CONFIG_NOSYSTEM": "1",
            "PYTHONPATH": str(ROOT),
        }

    def run(self) -> dict[str, Calls]:
        """Run all steps; the git processes of those with a name."""
        self._git(self._folder, "init", "--quiet", "--bare", "remote.git")
        self._git(self._folder, "clone", "--quiet", "remote.git", "clone")
        self._git(self._clone, "commit", "--quiet", "--allow-empty", "--message", "Begin")
        self._git(self._clone, "push", "--quiet", "origin", "main")
        counts = {name: self._step(place, line) for name, place, line in STEPS}
        return {name: calls for name, calls in counts.items() if name}

    def _step(self, place: str, line: str) -> Calls:

        trace = self._folder / f"trace-{len([*self._folder.glob('trace-*')])}"
        trace.mkdir()
        words = shlex.split(line)
        if words[0] != "git":
            words = [sys.executable, "-m", "ghp_agents", *words]
        cwd = self._clone if place == "." else self._worktree()
        done = subprocess.run(
            words,
            cwd=cwd,
            env=self._env | {"GIT_TRACE2_EVENT": str(trace)},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{line}: {done.stdout}{done.stderr}")
        return calls_in(trace)

    def _worktree(self) -> Path:
        """The worktree that agent-start made."""
        listed = self._git(self._clone, "worktree", "list", "--porcelain")
        return Path([line for line in listed.splitlines() if line.startswith("worktree ")][-1][9:])

    def _git(self, cwd: Path, *args: str) -> str:
        done = subprocess.run(
            ["git", *args], cwd=cwd, env=self._env, check=True, capture_output=True,
            encoding="utf-8",
        )  # fmt: skip
        return done.stdout


def calls_in(trace: Path) -> Calls:
    """The git processes in a folder of traces."""
    own: Counter[str] = Counter()
    of_git = 0
    for path in trace.iterdir():
        for line in path.read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            if event["event"] != "start":
                continue
            if "/" in event["sid"]:
                of_git += 1
            else:
                own[shorten(event["argv"])] += 1
    return Calls(own, of_git)


def shorten(argv: Sequence[str]) -> str:
    """The arguments of a git process, without the flags that all have."""
    words = [*argv[1:]]
    while words and words[0] in _FLAGS:
        del words[:2]
    return " ".join(words)[:110]


def table(counts: dict[str, Calls], *, detailed: bool = False) -> list[str]:
    """The lines of a table; `detailed` with each list of arguments."""
    lines = ["| command | git processes | started by git itself |", "|---|---|---|"]
    lines += [f"| {name} | {calls.total} | {calls.of_git} |" for name, calls in counts.items()]
    if detailed:
        for name, calls in counts.items():
            lines += ["", f"{name}:"]
            lines += [f"  {count} × git {args}" for args, count in calls.own.most_common()]
    return lines
