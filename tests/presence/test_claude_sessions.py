"""What sessions of Claude Code wait for is known where the client can say it."""

import json
import os
from pathlib import Path

import pytest

from ghp_agents.hotpath import presence_file
from ghp_agents.presence.claude_sessions import waits
from ghp_agents.presence.process_reports import report_processes
from ghp_agents.workspace import open_workspace
from tests.support import hosts
from tests.support.clock import ManualClock
from tests.support.ghp import invoke

SESSION = "00000000-0000-4000-8000-000000000001"
# As Claude Code 2.1.329 prints it at a permission prompt.
LISTED = [
    {"pid": 7, "cwd": "/r", "kind": "interactive", "sessionId": SESSION, "status": "waiting",
     "waitingFor": "permission prompt"},
    {"pid": 8, "cwd": "/r", "kind": "interactive", "sessionId": "other", "status": "idle"},
]  # fmt: skip


def claude(folder: Path, printed: str, code: int = 0) -> dict[str, str]:
    """A program that prints this for `claude agents --json`."""
    text = f"[ \"$*\" = 'agents --json' ] && cat <<'END'\n{printed}\nEND\nexit {code}"
    hosts.executable(folder / "bin/claude", text)
    return {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}


@pytest.mark.parametrize(
    ("printed", "code", "expected"),
    [
        (json.dumps(LISTED), 0, {SESSION: "permission prompt"}),
        (json.dumps([{"sessionId": "s", "status": "waiting", "waitingFor": 7}]), 0, {"s": ""}),
        (json.dumps([{"sessionId": "s", "status": "waiting", "waitingFor": "a\n\x1b[2Jb"}]), 0,
         {"s": "a [2Jb"}),
        ("[]", 0, {}), ("[7, null]", 0, {}), ("{}", 0, {}), ("no JSON", 0, {}),
        (json.dumps(LISTED), 1, {}),
    ],
)  # fmt: skip
def test_only_what_it_says_plainly_counts(
    repo: Path, tmp_path: Path, printed: str, code: int, expected: dict[str, str]
) -> None:
    assert waits(open_workspace(repo, claude(tmp_path, printed, code))) == expected


def test_where_it_is_not_installed_nobody_is_asked(repo: Path, tmp_path: Path) -> None:
    assert waits(open_workspace(repo, {**os.environ, "PATH": str(tmp_path)})) == {}


@pytest.mark.parametrize("kind", ["claude", "codex"])
def test_a_silent_session_that_waits_is_shown_waiting(
    repo: Path, tmp_path: Path, kind: str
) -> None:
    name = {"claude": "CLAUDE_CODE_SESSION_ID", "codex": "CODEX_THREAD_ID"}[kind]
    env = {name: SESSION, "GHP_AGENT": "worker-1", "GHP_AGENT_PID": str(os.getpid())}
    assert invoke("agent-heartbeat --status testing", repo, env).code == 0
    clock = ManualClock((repo / ".git/ghp/agents/worker-1.json").stat().st_mtime)
    ws = open_workspace(repo, claude(tmp_path, json.dumps(LISTED)), clock)
    clock.wait(400)
    assert report_processes(ws, asks_clients=True) == ["worker-1"]
    presence = presence_file.newest(ws.folders, "worker-1") or {}
    shown = (presence["status"], presence["lastAction"]) if kind == "claude" else presence["status"]
    expected = ("waiting", "Waits for its person: permission prompt")
    assert shown == (expected if kind == "claude" else "testing")


def test_a_sync_that_somebody_waits_for_asks_no_client(repo: Path, tmp_path: Path) -> None:
    env = {"CLAUDE_CODE_SESSION_ID": SESSION, "GHP_AGENT_PID": str(os.getpid())}
    assert (
        invoke("agent-heartbeat --status testing", repo, env | {"GHP_AGENT": "worker-1"}).code == 0
    )
    clock = ManualClock((repo / ".git/ghp/agents/worker-1.json").stat().st_mtime)
    ws = open_workspace(repo, claude(tmp_path, json.dumps(LISTED)), clock)
    clock.wait(400)
    assert report_processes(ws) == ["worker-1"]
    assert (presence_file.newest(ws.folders, "worker-1") or {})["status"] == "testing"
