"""Agents' hooks, for tests: recorded messages of clients, and our command as clients call it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.hooks import scene
from ghp_agents.hooks.event import Event
from tests.support import fork_server
from tests.support.ghp import invoke
from tests.support.house import CHECKOUT

PAYLOADS = CHECKOUT / "tests/hooks/payloads"
SESSION = "00000000-0000-4000-8000-000000000001"


class Hooked(NamedTuple):
    """How a hook ended."""

    code: int
    out: bytes
    err: bytes

    @property
    def said(self) -> Any:
        """The JSON on standard output; None where there is nothing."""
        return json.loads(self.out) if self.out else None


BARE = {"HOME": "/nonexistent"}
SILENT = Hooked(0, b"", b"")


def payload(name: str, folder: Path | str = "/repo", **changes: Any) -> dict[str, Any]:
    """A recorded message of a client, as it would come from the worktree `folder`."""
    text = (PAYLOADS / f"{name}.json").read_text(encoding="utf-8")
    message: dict[str, Any] = json.loads(text.replace("/repo", str(folder)))
    return message | changes


def call(
    client: str,
    message: object,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    timeout: float = 60,
) -> Hooked:
    """`hook CLIENT` in a process of its own; `message` is bytes, or what becomes JSON."""
    text = message if isinstance(message, bytes) else json.dumps(message).encode()
    done = fork_server.run(["hook", client], cwd, env, text, timeout)
    return Hooked(done.returncode, done.stdout, done.stderr)


def write(path: Path | str, folder: Path, **changes: Any) -> dict[str, Any]:
    """Claude Code is about to write `path`."""
    given = {"file_path": str(path), "content": "x\n"}
    return payload("claude-PreToolUse-Write", folder, tool_input=given, **changes)


def set_up(repo: Path, agent: str | None = "worker-1") -> Path:
    """A repository that is in use, whose worktree is `agent`'s, or nobody's."""
    assert invoke(f"agent-init --agent {agent}" if agent else "agent-init", repo).code == 0
    return repo


def presence(repo: Path, agent: str = "worker-1") -> dict[str, Any]:
    """The presence file of an agent."""
    fields = json.loads((repo / f".git/ghp/agents/{agent}.json").read_bytes())
    assert isinstance(fields, dict)
    return fields


def log(repo: Path) -> list[dict[str, Any]]:
    """What went wrong and was told to nobody."""
    path = repo / ".git/ghp/log.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def context(hooked: Hooked) -> str:
    """What Claude Code or Codex lets its agent know."""
    assert (hooked.code, hooked.err) == (0, b"")
    output = hooked.said["hookSpecificOutput"]
    assert set(output) == {"hookEventName", "additionalContext"}
    text = output["additionalContext"]
    assert isinstance(text, str)
    return text


def event(client: str, kind: str, cwd: Path | str | None, **more: object) -> Event:
    """An event, in a session."""
    fields = {"session": "12345678-abcd", **more}
    folder = None if cwd is None else str(cwd)
    return Event(client, kind, kind, cwd=folder, **fields)  # type: ignore[arg-type]


def in_use(repo: Path) -> Path:
    """A repository with the folder that marks one in use."""
    (repo / ".git/ghp").mkdir()
    return repo


def agent(parsed: Event, environ: Mapping[str, str] | None = None) -> str | None:
    """The agent whose event it is, where there is anything to do."""
    at = scene.find(parsed, {**BARE, **(environ or {})})
    return at.agent if at else None
