"""What tests of every client do with our program, in this process."""

import json
from pathlib import Path
from typing import Any

from tests.support.ghp import invoke

OTHER = {"GHP_AGENT": "worker-2"}


def run(*words: str, cwd: Path, env: dict[str, str] | None = None) -> str:
    """A command that must work; what it prints."""
    done = invoke(words, cwd, env)
    assert done.code == 0, done.err
    return done.out


def states(repo: Path) -> dict[str, Any]:
    """Everybody's presence."""
    found: dict[str, Any] = json.loads(run("agent-status", "--json", cwd=repo))["agents"]
    return found


def checkpoints(repo: Path) -> list[dict[str, Any]]:
    """What was written down, oldest first."""
    logged = run("agent-log", "--event", "checkpoint", "--json", cwd=repo)
    found: list[dict[str, Any]] = json.loads(logged)
    return found
