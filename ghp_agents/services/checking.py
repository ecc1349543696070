"""Running the checks of the configuration, with their output kept, bounded and without secrets."""

from collections.abc import Callable
from pathlib import Path

from ghp_agents import files, process
from ghp_agents.model.check import Check, red
from ghp_agents.model.names import slug
from ghp_agents.model.surroundings import for_commands, shown
from ghp_agents.workspace import Workspace

FOLDER = "checks"  # in our folder of the clone: a file with the last outputs of each branch
KEPT = 64_000  # bytes of each

Tell = Callable[[str], None]


def run(ws: Workspace, path: Path, name: str, tell: Tell) -> tuple[Check, ...]:
    """Run the checks in the worktree at `path`, one after another up to the first that fails.
    `name` is what is checked."""
    done: list[Check] = []
    for command in ws.settings.checks:
        tell(f"Running `{command}` …")
        done.append(_one(ws, path, command))
        _keep(ws, name, done)
        if red(done):
            break
    return tuple(done)


def _one(ws: Workspace, path: Path, command: str) -> Check:
    began = ws.clock.now()
    env = {**for_commands(ws.environ), "PWD": str(path)}
    ran = process.shell(command, cwd=path, env=env, timeout=ws.settings.check_timeout, keep=KEPT)
    took = max(0.0, ws.clock.now() - began)
    seconds = ws.settings.check_timeout if ran.timed_out else took
    return Check(command, ran.code, shown(ran.output, ws.environ), ran.timed_out, seconds)


def kept_in(ws: Workspace, name: str) -> Path:
    """The file with the last outputs for a branch."""
    return ws.ghp_dir / FOLDER / f"{slug(name, 80) or 'branch'}.txt"


def _keep(ws: Workspace, name: str, checks: list[Check]) -> None:
    text = "\n\n".join(f"$ {each.command}\n{each.output}\n({each.verdict})" for each in checks)
    try:
        files.write_atomically(kept_in(ws, name), f"{text}\n".encode("utf-8", "replace"))
    except OSError:
        return  # it is in the answer, too
