"""Which trees passed the checks in this clone, so that nothing is checked twice.

A failure is not kept: it may pass the next time.
"""

from pathlib import Path
from typing import Any

from ghp_agents.core.ids import digest
from ghp_agents.core.json_file import JsonFile
from ghp_agents.pulls.check import Check, red
from ghp_agents.settings.settings import Settings
from ghp_agents.workspace import Workspace

FILE = "checked.json"  # in the clone's folder in the home: no run can forge it
ENTRIES = 1_000  # the newest are kept
AGE = 86_400.0  # seconds; what a check needs besides the tree may change


def passed(ws: Workspace, settings: Settings, tree: str) -> tuple[Check, ...] | None:
    """Return the checks if all of them passed on this tree; None if one must run."""
    times, now = _file(ws).read(), ws.clock.now()
    for command in settings.checks:
        at = times.get(_key(ws, settings, tree, command))
        if at is None or not 0 <= now - at < AGE:
            return None
    return tuple(Check(command, 0, before=True) for command in settings.checks)


def remember(ws: Workspace, settings: Settings, tree: str, checks: tuple[Check, ...]) -> None:
    """Record that all checks passed on a tree; fewer or failed ones are not recorded. An entry that
    another process writes at the same moment may be lost."""
    if not checks or red(checks) or len(checks) != len(settings.checks):
        return
    times, now = _file(ws).read(), ws.clock.now()
    for check in checks:
        key = _key(ws, settings, tree, check.command)
        times.pop(key, None)
        times[key] = now
    _file(ws).write(dict([*times.items()][-ENTRIES:]))


def _key(ws: Workspace, settings: Settings, tree: str, command: str) -> str:
    """Identify a check by all that decides its result, except for the timeout."""
    setup = ws.settings.worktree_setup_command if ws.settings.worktree_auto_setup else None
    return digest(
        tree,
        command,
        setup or "",
        *("keep", *ws.settings.checks_keep_env),
        *("copy", *ws.settings.worktree_copy_files),
        *("link", *ws.settings.worktree_symlink_files),
        length=40,
    )


def _file(ws: Workspace) -> JsonFile[dict[str, float]]:
    return JsonFile(Path(ws.home_folder, FILE), _decoded, dict)


def _decoded(value: Any) -> dict[str, float]:
    entries = value.items() if isinstance(value, dict) else ()
    return {key: float(at) for key, at in entries if type(at) in (int, float)}
