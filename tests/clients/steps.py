"""What tests of several clients do: our program in this process, and each client's own words."""

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.support.clients import Bench
from tests.support.fake_models import Call
from tests.support.ghp import invoke

OTHER = {"GHP_AGENT": "worker-2"}
TRUSTED = "--dangerously-bypass-hook-trust"  # what `/hooks` is for users of Codex


# --------------------------------------------------------------------------- our program


def run(*words: str, cwd: Path, env: dict[str, str] | None = None) -> str:
    """A command that must work; what it prints."""
    done = invoke(words, cwd, env)
    assert done.code == 0, done.err
    return done.out


def set_up(bench: Bench, repo: Path, hooks: str, agent: str = "worker-1") -> None:
    """Hook a repository for an agent; worker-2 is about, too."""
    run("agent-init", "--agent", agent, "--hooks", hooks, cwd=repo)
    run("agent-heartbeat", "--status", "implementing", cwd=repo, env=OTHER)
    if "codex" in hooks:
        bench.trust_project(repo)


def states(repo: Path) -> dict[str, Any]:
    """Everybody's presence."""
    found: dict[str, Any] = json.loads(run("agent-status", "--json", cwd=repo))["agents"]
    return found


def checkpoints(repo: Path) -> list[dict[str, Any]]:
    """What was written down, oldest first."""
    logged = run("agent-log", "--event", "checkpoint", "--json", cwd=repo)
    found: list[dict[str, Any]] = json.loads(logged)
    return found


# ------------------------------------------------------------------ clients and their tools


def start(bench: Bench, client: str, repo: Path, key: str) -> "subprocess.Popen[str]":
    """A session of a client."""
    return bench.codex(repo, key, TRUSTED) if client == "codex" else bench.claude(repo, key)


def edit(client: str, path: Path, line: str = "new") -> Call:
    """Make a new file."""
    if client == "codex":
        patch = f"*** Begin Patch\n*** Add File: {path}\n+{line}\n*** End Patch"
        return Call("apply_patch", patch)
    return Call("Write", {"file_path": str(path), "content": f"{line}\n"})


def shell(client: str, command: str) -> Call:
    """Run a command in the shell."""
    if client == "codex":
        return Call("exec_command", {"cmd": command})
    return Call("Bash", {"command": command, "description": "Run it"})


def look(client: str, repo: Path) -> Call:
    """Do something harmless."""
    if client == "codex":
        return shell(client, "ls")
    return Call("Read", {"file_path": str(repo / "README.md")})
