"""Handles events of upstream's `ghp`: hooks for a new worktree, stopped agents for a removed one,
and a sync. Does nothing in a repository that is not set up.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ghp_agents.core.errors import GhpError, UsageError
from ghp_agents.hotpath import background, heartbeat
from ghp_agents.integrations.clients import new_worktree
from ghp_agents.integrations.upstream_ghp.hooks import EVENTS
from ghp_agents.ports import Context

LARGEST = 5_000_000  # bytes of an event file


def payload(file: Path) -> dict[str, Any]:
    """The data of an event. Raises GhpError."""
    try:
        with file.open("rb") as content:
            data = json.loads(content.read(LARGEST))
    except (OSError, ValueError, RecursionError) as error:
        raise _odd(file, str(error)) from None
    if not isinstance(data, dict):
        raise _odd(file, "it is not an object")
    return data


def follow(ctx: Context, event: str, data: Mapping[str, Any]) -> None:
    """Handle an event. Raises GhpError, OSError."""
    if event not in EVENTS:
        raise UsageError(
            f"Unknown event {event[:40]!r}.", hint=f"Known events: {', '.join(EVENTS)}."
        )
    if not (ctx.ws.ghp_dir / "state.git").is_dir():
        return  # upstream runs the hooks in all repositories; this one is not set up
    act = _ACTS.get(event)
    if act is not None:
        act(ctx, data)
    settings = {"background": ctx.ws.settings.background}
    background.start_sync(ctx.ws.folders, ctx.ws.environ, ctx.ws.clock.now(), settings, urgent=True)


def _install_hooks(ctx: Context, data: Mapping[str, Any]) -> None:
    """Install the main worktree's hooks in the new worktree."""
    for step in new_worktree.steps(ctx.ws, Path(_worktree(data))):
        step.act()


def _stop_agents(ctx: Context, data: Mapping[str, Any]) -> None:
    """Mark agents of a removed worktree as stopped; its branch was checked out nowhere else."""
    path, branch = _worktree(data), data.get("branch")
    if Path(path).exists():
        return
    place = {"worktree": Path(path).name, "branch": branch}
    for name in ctx.store.snapshot().beaten():
        presence = ctx.ws.presence(name) or {}
        if all(presence.get(key) == value for key, value in place.items()):
            goodbye = {"status": "stopped", "lastAction": "Its worktree was removed"}
            now = ctx.ws.clock.now()
            heartbeat.beat(ctx.ws.folders, name, goodbye, now, session=presence.get("session"))
    ctx.store.fold()


_ACTS: dict[str, Callable[[Context, Mapping[str, Any]], None]] = {
    "worktree-created": _install_hooks,
    "worktree-removed": _stop_agents,
}


def _worktree(data: Mapping[str, Any]) -> str:
    worktree = data.get("worktree")
    path = worktree.get("path") if isinstance(worktree, dict) else None
    if not isinstance(path, str) or not path.startswith("/") or "\0" in path:
        raise GhpError(
            "The upstream event names no worktree.", hint="Report it to the author of that `ghp`."
        )
    return path


def _odd(file: Path, why: str) -> GhpError:
    return GhpError(
        f"Cannot read the upstream event in {file}: {why}.",
        hint="The file exists only while upstream runs the hook.",
    )
