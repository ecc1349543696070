"""The cost of a beat as a whole process: in a linked worktree, in a session, with something new to
say, against Python alone and against `import click`."""

import os
from itertools import count
from pathlib import Path

from bench.figure import Figure
from bench.place import Place, git, open_app
from bench.timing import interleave, process, ratio

TWICE_PYTHON = 2.0
LESS_THAN_CLICK = 0.6
CLICK = "× python -c 'import click'"


def measure(place: Place) -> list[Figure]:
    """A beat through the command and through `-m`, against Python alone and `import click`."""
    worktree, env = _at_work(place)
    python, ghp = place.installed.python, place.installed.ghp
    actions = count()

    def run(*command: str | Path) -> float:
        return process(command, cwd=worktree, env=env)

    def beat(*program: str | Path) -> float:
        return run(*program, "agent-heartbeat", "--action", f"Ran the tests, {next(actions)}")

    cases = {
        "pass": lambda: run(python, "-c", "pass"),
        "click": lambda: run(python, "-c", "import click"),
        "ghp agent-heartbeat": lambda: beat(ghp),
        "python -m ghp_agents agent-heartbeat": lambda: beat(python, "-m", "ghp_agents"),
    }
    times = interleave(cases, 6 if place.quick else 60)
    _check(worktree, next(actions))
    figures: list[Figure] = []
    for name in list(cases)[2:]:
        beats = times[name]
        figures.append(ratio("beat", name, beats, times["pass"], "× python -c pass", TWICE_PYTHON))
        figures.append(ratio("beat", name, beats, times["click"], CLICK, LESS_THAN_CLICK))
    return figures


def _at_work(place: Place) -> tuple[Path, dict[str, str]]:
    """A worktree with an agent in a session; its background work is not due."""
    repository = place.repository("beat")
    worktree = repository.parent / "147-dashboard"
    branch = "agent/worker-1/147-dashboard"
    git(repository, "worktree", "add", "-q", "-b", branch, str(worktree))
    session = {"CLAUDE_CODE_SESSION_ID": "5f3c2a90-0d7e-4f4b-9a53-1f5f0e7c3b21"}
    alive = {"GHP_AGENT": "worker-1", "GHP_AGENT_PID": str(os.getpid())}
    quiet = {**os.environ, **session, **alive}
    process([place.installed.ghp, "agent-heartbeat"], cwd=worktree, env=quiet)
    open_app(worktree).store.sync()
    # From now on background work is allowed; none is due soon after a sync.
    due = repository / ".git/ghp/cache/due"
    os.utime(due, (due.stat().st_mtime + 86_400, due.stat().st_mtime + 86_400))
    loud = {name: value for name, value in quiet.items() if name != "GHP_BACKGROUND"}
    return worktree, loud


def _check(worktree: Path, beats: int) -> None:
    """Check that the last heartbeat was written: a heartbeat itself reports no errors."""
    presence = open_app(worktree).ws.presence("worker-1") or {}
    if presence.get("lastAction") != f"Ran the tests, {beats - 1}":
        raise RuntimeError(f"the last beat was not written: {presence}")
