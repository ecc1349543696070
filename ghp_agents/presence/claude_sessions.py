"""What running sessions of Claude Code wait for, as the client itself reports."""

import json
import shutil
from typing import Any

from ghp_agents.core import process
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import one_line
from ghp_agents.workspace import Workspace

PROGRAM = "claude"
SECONDS = 5.0  # for its answer, which takes half a second
MOST = 100  # characters of what is waited for


def waits(ws: Workspace) -> dict[str, str]:
    """What each waiting session waits for, by its id; empty if the client does not report it.

    `claude agents --json` lists the sessions of this user: `sessionId`, `status`, `waitingFor`.
    """
    program = shutil.which(PROGRAM, path=ws.environ.get("PATH"))
    if program is None:
        return {}
    try:
        ended = process.run(
            [program, "agents", "--json"], cwd=ws.common_dir, env=dict(ws.environ), timeout=SECONDS
        )
        listed = json.loads(ended.out) if ended.code == 0 else []
    except (GhpError, OSError, ValueError):
        return {}
    sessions = (
        [session for session in listed if isinstance(session, dict)]
        if isinstance(listed, list)
        else []
    )
    return {
        str(session.get("sessionId")): _words(session.get("waitingFor"))
        for session in sessions
        if session.get("status") == "waiting"
    }


def _words(text: Any) -> str:
    return one_line(text, MOST) if isinstance(text, str) else ""
