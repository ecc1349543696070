"""What agents were before they waited, so that it can be told though the waiting process is killed.

Who waits says so in the agent's presence and takes it back in the end. A process that is killed
takes nothing back; but beside a file that it keeps locked, and the kernel frees, it left word.
"""

import contextlib
import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from ghp_agents.core import files
from ghp_agents.hotpath import heartbeat
from ghp_agents.workspace import Workspace

FOLDER = "waiters"


@contextlib.contextmanager
def save_status(
    ws: Workspace, agent: str, before: Mapping[str, Any], status: str, about: str
) -> Iterator[None]:
    """While this process waits: word of what `agent` was `before`. It shows `status` now, and an
    action that begins with `about`."""
    folder = next((Path(each, FOLDER) for each in ws.folders if files.usable(Path(each))), None)
    if folder is None or not files.usable(folder):
        yield
        return
    word = folder / f"{agent}.{files.random_hex(4)}.json"
    said = {"agent": agent, "status": status, "about": about}
    was = {"status": before.get("status", "idle"), "lastAction": before.get("lastAction", "")}
    with files.locked_if_possible(_lock(word)) as held:
        try:
            with contextlib.suppress(OSError):
                if held:  # else nobody could tell that it is over
                    files.write_atomically(word, json.dumps(said | {"was": was}).encode())
            yield
        finally:
            _forget(word)


def restore_status(ws: Workspace, agents: Collection[str]) -> None:
    """Let those of `agents` be what they were before, whose waiting process is gone."""
    for folder in ws.folders:
        for word in sorted(Path(folder, FOLDER).glob("*.json")):
            if files.is_locked(_lock(word)) is False:
                _mend(ws, word, agents)


def _mend(ws: Workspace, word: Path, agents: Collection[str]) -> None:
    try:
        said = json.loads(word.read_bytes())
        agent, status, about, was = (said[key] for key in ("agent", "status", "about", "was"))
        wanted = {"status": str(was["status"]), "lastAction": str(was["lastAction"])}
    except OSError:
        return  # another was first
    except (ValueError, KeyError, TypeError, RecursionError):
        _forget(word)
        return
    if agent not in agents:
        return
    shown = ws.presence(agent) or {}
    if not str(shown.get("lastAction", "")).startswith(heartbeat.clean_action(str(about))):
        del wanted["lastAction"]
    if shown.get("status") != status or "lastAction" not in wanted:
        del wanted["status"]  # somebody has said something since
    try:
        if shown and wanted:
            heartbeat.beat(
                ws.folders, agent, wanted, ws.clock.now(), throttle=ws.settings.throttle,
                moment=ws.clock.interval(),
            )  # fmt: skip
    except OSError:
        return  # nothing can be written now
    _forget(word)


def _lock(word: Path) -> Path:
    return word.with_suffix(".lock")


def _forget(word: Path) -> None:
    for path in (word, _lock(word)):
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
