"""`agent-conflicts` with thirty agents in one clone, each with commits, changes and new files: the
whole command over one `git status` in each worktree, and in seconds."""

import os
from functools import partial
from pathlib import Path

from bench.figure import Figure
from bench.place import Place, git, open_app
from bench.timing import Times, interleave, process, ratio
from ghp_agents.hotpath import heartbeat

AGENTS, FILES, LINES = 30, 1_000, 200
SECONDS = 2.0  # for people, who wait
STATUSES = 10.0


def measure(place: Place) -> list[Figure]:
    """The command, for all agents and for one, in a clone with a thousand files."""
    agents, files, rounds = (6, 40, 2) if place.quick else (AGENTS, FILES, 7)
    clone = place.repository("conflicts")
    fill(clone, agents, files)
    python, env = place.installed.python, dict(os.environ)
    command: list[str | Path] = [python, "-P", "-m", "ghp_agents", "agent-conflicts"]
    cases = {
        "git status": partial(_statuses, sorted(clone.parent.glob("worktree-*")), env),
        "all": partial(_process, [*command, "--json"], clone, env),
        "one agent": partial(_process, [*command, "--json", "worker-1"], clone, env),
        "main only": partial(process, [*command, "--json", "--trunk"], cwd=clone, env=env),
    }
    times = interleave(cases, rounds)
    base, unit = times["git status"], f"× {agents} git status"
    figures = [_seconds(agents, times["all"])]
    return figures + [
        ratio("conflicts", f"{agents} agents, {name}", times[name], base, unit, bound)
        for name, bound in (("all", STATUSES), ("one agent", None), ("main only", None))
    ]


def _seconds(agents: int, times: Times) -> Figure:
    return Figure(
        "conflicts", f"{agents} agents", times.minimum, "s", SECONDS,
        detail=times.as_detail("this"),
    )  # fmt: skip


def _statuses(folders: list[Path], env: dict[str, str]) -> float:
    """The seconds of a `git status` in each worktree, one after another."""
    command = ["git", "status", "--porcelain"]
    return sum(process(command, cwd=folder, env=env) for folder in folders)


def _process(command: list[str | Path], cwd: Path, env: dict[str, str]) -> float:
    """The seconds of a command that exits with 3, as something conflicts."""
    words = " ".join(f"'{word}'" for word in command)
    return process(["sh", "-c", f"{words}; test $? = 3"], cwd=cwd, env=env)


def fill(clone: Path, agents: int, files: int) -> None:
    """Agents that each changed files of their own, and all one file in common: every third one the
    same lines of it. The main branch went on meanwhile."""
    text = "".join(f"line {number}\n" for number in range(LINES))
    for number in range(files):
        path = clone / f"src/part-{number % 20}/module_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (clone / "src/common.py").write_text(text)
    git(clone, "add", ".")
    git(clone, "commit", "-q", "-m", "Begin")
    parts = open_app(clone)
    for agent in range(agents):
        folder = clone.parent / f"worktree-{agent + 1}"
        branch = f"agent/worker-{agent + 1}/{agent + 1}-part"
        git(clone, "worktree", "add", "-q", "-b", branch, str(folder))
        own = sorted(folder.glob(f"src/part-{agent % 20}/*.py"))
        _edit(own[0], 10, f"committed by {agent}")
        git(folder, "commit", "-q", "-a", "-m", "Work")
        _edit(own[-1], 20, f"changed by {agent}")
        _edit(folder / "src/common.py", 5 if agent % 3 == 0 else 30 + 5 * agent, f"by {agent}")
        (folder / f"src/new_{agent}.py").write_text(text)
        git_dir = clone / ".git/worktrees" / folder.name
        (git_dir / "ghp-agent").write_text(f"worker-{agent + 1}\n")
        fields = {"branch": branch, "worktree": folder.name, "issue": agent + 1}
        heartbeat.beat(
            parts.ws.folders, f"worker-{agent + 1}", fields, parts.ws.clock.now(), epoch=1
        )
    parts.store.fold()
    _edit(clone / "src/common.py", 190, "on main")
    git(clone, "commit", "-q", "-a", "-m", "Main goes on")


def _edit(path: Path, line: int, text: str) -> None:
    lines = path.read_text().splitlines()
    lines[line] = text
    path.write_text("\n".join([*lines, ""]))
