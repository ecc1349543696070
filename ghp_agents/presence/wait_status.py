"""Save the status of waiting agents, to restore it even if the waiting process is killed.

A waiting process sets the agent's status and restores it at the end. A killed process cannot. So
it first saves the former status to a file next to a locked file, which the kernel then unlocks.
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
    """Keep a file with `agent`'s former presence (`before`) while this process waits. It shows
    `status` now, and an action that begins with `about`."""
    folder = next((Path(top, FOLDER) for top in ws.folders if files.usable(Path(top))), None)
    if folder is None or not files.usable(folder):
        yield
        return
    saved = folder / f"{agent}.{files.random_hex(4)}.json"
    current = {"agent": agent, "status": status, "about": about}
    was = {"status": before.get("status", "idle"), "lastAction": before.get("lastAction", "")}
    with files.locked_if_possible(_lock(saved)) as held:
        try:
            with contextlib.suppress(OSError):
                if held:  # without the lock, nobody could detect the end
                    files.write_atomically(saved, json.dumps(current | {"was": was}).encode())
            yield
        finally:
            _forget(saved)


def is_waiting(ws: Workspace, agent: str) -> bool:
    """Whether a process of this agent waits, so that its turn continues."""
    return any(
        files.is_locked(_lock(saved)) is not False
        for folder in ws.folders
        for saved in Path(folder, FOLDER).glob(f"{agent}.*.json")
    )


def restore_status(ws: Workspace, agents: Collection[str]) -> None:
    """Restore the former status of those of `agents` whose waiting process is gone."""
    for folder in ws.folders:
        for saved in sorted(Path(folder, FOLDER).glob("*.json")):
            if files.is_locked(_lock(saved)) is False:
                _restore(ws, saved, agents)


def _restore(ws: Workspace, saved: Path, agents: Collection[str]) -> None:
    try:
        fields = json.loads(saved.read_bytes())
        agent, status, about, was = (fields[key] for key in ("agent", "status", "about", "was"))
        wanted = {"status": str(was["status"]), "lastAction": str(was["lastAction"])}
    except OSError:
        return  # another process was first
    except (ValueError, KeyError, TypeError, RecursionError):
        _forget(saved)
        return
    if agent not in agents:
        return
    shown = ws.presence(agent) or {}
    if not str(shown.get("lastAction", "")).startswith(heartbeat.clean_action(str(about))):
        del wanted["lastAction"]
    if shown.get("status") != status or "lastAction" not in wanted:
        del wanted["status"]  # the status has changed since
    try:
        if shown and wanted:
            heartbeat.beat(
                ws.folders, agent, wanted, ws.clock.now(), throttle=ws.settings.throttle,
                moment=ws.clock.interval(),
            )  # fmt: skip
    except OSError:
        return  # nothing can be written now
    _forget(saved)


def _lock(saved: Path) -> Path:
    return saved.with_suffix(".lock")


def _forget(saved: Path) -> None:
    for path in (saved, _lock(saved)):
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
