"""How a text gets into a running session that rests: a socket, or Codex's queue.

Claude Code gives its hooks the path of a socket in $CLAUDE_CODE_MESSAGING_SOCKET; a line of JSON on
it starts a turn. Our plugins for OpenCode and pi have such a socket, too. Codex takes up what
`codex queue` wrote for its thread. None confirms that the model read it, so nobody may rely on it.
"""

import contextlib
import json
import os
import shutil
import socket
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ghp_agents.core import process
from ghp_agents.core.errors import GhpError
from ghp_agents.core.json_file import JsonFile, object_file
from ghp_agents.hotpath import alive, heartbeat
from ghp_agents.presence import wait_status
from ghp_agents.workspace import Workspace

CLAUDE, CODEX = "claude", "codex"
SOCKET, CODEX_HOME = "CLAUDE_CODE_MESSAGING_SOCKET", "CODEX_HOME"
FOLDER = "ways-in"  # in the clone's folder in the home: a way in names a program's home
RESTING = ("idle", "waiting")  # the statuses of a session between two turns
SOCKET_TIMEOUT_S, PROGRAM_TIMEOUT_S = 1.0, 5.0
SENDER = "ghp-agents"


def keep(
    home: str, agent: str, client: str, session: str, environ: Mapping[str, str],
    socket: str = "",
) -> None:  # fmt: skip
    """Remember the way into a session that begins, if its client has one. `home` is the clone's
    folder in the home, `socket` that of our plugin in the client."""
    path = environ.get(SOCKET, "") if client == CLAUDE else socket
    kept = {"client": client, "session": session, "socket": path}
    kept["home"] = environ.get(CODEX_HOME, "")
    if client == CODEX or path:
        _file(home, agent).write(kept)


def open_session(ws: Workspace, agent: str) -> str:
    """The session of `agent` if it has a way in, runs here and is between two turns; or empty."""
    kept, presence = _read(ws, agent), ws.presence(agent) or {}
    is_open = (
        bool(kept)
        and presence.get("status") in RESTING
        and (presence.get("local") or {}).get("session") == kept.get("session")
        and alive.process_lives(presence) is True
        and not wait_status.is_waiting(ws, agent)
    )
    return str(kept["session"]) if is_open else ""


def send(ws: Workspace, agent: str, text: str) -> bool:
    """Send `text` into the session of `agent`; returns whether its client took it."""
    kept = _read(ws, agent)
    session = str(kept.get("session"))
    try:
        if kept.get("client") == CODEX:
            return _queue(ws, str(kept.get("home") or ""), session, text)
        return _write(str(kept.get("socket")), session, text)
    except (GhpError, OSError, ValueError):
        return False


def _write(path: str, session: str, text: str) -> bool:
    status = os.lstat(path)
    if not stat.S_ISSOCK(status.st_mode) or status.st_uid != os.getuid():
        return False
    message = {
        "type": "user",
        "message": {"role": "user", "content": text},
        "from": SENDER,
        "session_id": session,  # another session drops it
    }
    with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as stream:
        stream.settimeout(SOCKET_TIMEOUT_S)
        stream.connect(path)
        stream.sendall(json.dumps(message).encode() + b"\n")
    return True


def _queue(ws: Workspace, home: str, session: str, text: str) -> bool:
    program = shutil.which(CODEX, path=ws.environ.get("PATH"))
    if program is None:
        return False
    command = [program, "queue", f"--thread={session}", f"--message={text}"]
    env = {**ws.environ, **({CODEX_HOME: home} if home else {})}
    return process.run(command, cwd=ws.common_dir, env=env, timeout=PROGRAM_TIMEOUT_S).code == 0


def _read(ws: Workspace, agent: str) -> dict[str, Any]:
    return _file(ws.home_folder, agent).read() if heartbeat.is_name(agent) else {}


def _file(home: str, agent: str) -> JsonFile[dict[str, Any]]:
    return object_file(Path(home, FOLDER, f"{agent}.json"))
