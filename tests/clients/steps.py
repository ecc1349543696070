"""What tests of several clients do: our program in this process, and each client's own words."""

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.support.clients import Bench
from tests.support.fake_models import Call
from tests.support.ghp import invoke

OTHER = {"GHP_AGENT": "worker-2"}


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
        bench.trust_hooks(repo)


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
    if client == "claude":
        return bench.claude(repo, key)
    return bench.codex(repo, key) if client == "codex" else bench.start(client, repo, key)


# For each client the tool that writes a new file, and its arguments for the path and the text.
WRITES = {
    "claude": ("Write", "file_path", "content"),
    "copilot": ("create", "path", "file_text"),
    "gemini": ("write_file", "file_path", "content"),
    "opencode": ("write", "filePath", "content"),
    "pi": ("write", "path", "content"),
    "qwen": ("write_file", "file_path", "content"),
}
# The tool that replaces text, and its arguments for the path, the old text and the new one.
REPLACES = {
    "claude": ("Edit", "file_path", "old_string", "new_string"),
    "copilot": ("edit", "path", "old_str", "new_str"),
    "gemini": ("replace", "file_path", "old_string", "new_string"),
    "opencode": ("edit", "filePath", "oldString", "newString"),
    "qwen": ("edit", "file_path", "old_string", "new_string"),
}
# The tool that reads a file, and its argument for the path.
READS = {
    "claude": ("Read", "file_path"),
    "copilot": ("view", "path"),
    "gemini": ("read_file", "file_path"),
    "opencode": ("read", "filePath"),
    "pi": ("read", "path"),
    "qwen": ("read_file", "file_path"),
}
# The shell, and the arguments that it wants beside the command.
SHELLS: dict[str, tuple[str, dict[str, Any]]] = {
    "claude": ("Bash", {"description": "Run it"}),
    "copilot": ("bash", {"description": "Run it"}),
    "gemini": ("run_shell_command", {"description": "Run it"}),
    "opencode": ("bash", {"description": "Run it"}),
    "pi": ("bash", {}),
    "qwen": ("run_shell_command", {"is_background": False}),
}


def edit(client: str, path: Path, line: str = "new") -> Call:
    """Make a new file."""
    if client == "codex":
        patch = f"*** Begin Patch\n*** Add File: {path}\n+{line}\n*** End Patch"
        return Call("apply_patch", patch)
    tool, where, content = WRITES[client]
    return Call(tool, {where: str(path), content: f"{line}\n"})


def replace(client: str, path: Path, old: str, new: str) -> Call:
    """Replace a text that is in a file once."""
    if client == "pi":
        return Call("edit", {"path": str(path), "edits": [{"oldText": old, "newText": new}]})
    tool, where, before, after = REPLACES[client]
    more = {"instruction": "Replace it."} if client == "gemini" else {}
    return Call(tool, {where: str(path), before: old, after: new, **more})


def shell(client: str, command: str) -> Call:
    """Run a command in the shell."""
    if client == "codex":
        return Call("exec_command", {"cmd": command})
    tool, arguments = SHELLS[client]
    return Call(tool, {"command": command, **arguments})


def look(client: str, repo: Path) -> Call:
    """Do something harmless."""
    if client == "codex":
        return shell(client, "ls")
    tool, where = READS[client]
    return Call(tool, {where: str(repo / "README.md")})
