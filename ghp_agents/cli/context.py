"""What every command shares: the house it works in, `--as`, and the log of what went wrong."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ghp_agents import background, pulse
from ghp_agents.cli import output
from ghp_agents.errors import NotSetUpError
from ghp_agents.locate import locate
from ghp_agents.wiring import House
from ghp_agents.workspace import current_folder

F = TypeVar("F", bound=Callable[..., Any])

LOG_LIMIT = 1_000_000  # bytes


def make_house() -> House:
    """The house for the current folder and environment."""
    try:
        cwd = current_folder()
    except NotSetUpError:  # help and version work anywhere; a command says what is wrong
        cwd = Path("/nonexistent")
    return House(cwd, os.environ)


def _choose(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    if value:
        ctx.find_root().obj.name = value


def acting(command: F) -> F:
    """The option `--as`, for commands that somebody acts in."""
    return click.option(
        "--as",
        metavar="AGENT",
        expose_value=False,
        callback=_choose,
        help="Act as this agent (default: GHP_AGENT, this worktree's agent, the session); @me is "
        "you yourself.",
    )(command)


def wake(house: House) -> None:
    """Let a background process fold and sync, if one is due."""
    ws = house.ws
    settings = {"background": ws.settings.background}
    background.wake(ws.folders, house.environ, ws.clock.now(), settings, urgent=False)


def say_none(house: House, text: str) -> None:
    """Say that there is nothing, and where others may have said something, how to hear it."""
    output.say(text)
    standing = house.store.standing()
    if standing.remote and standing.news_at is None:
        output.say(
            f"{standing.remote} was never asked: `ghp agent-sync` fetches what other clones said."
        )


def log_unexpected(error: BaseException) -> Path | None:
    """Write what went wrong to the clone's log; where that is, or None."""
    try:
        place = locate(str(Path.cwd()), os.environ)
    except FileNotFoundError:  # the folder was removed
        return None
    if place is None:
        return None
    import traceback

    entry = {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "error": f"{type(error).__name__}: {error}"[:2000],
        "trace": "".join(traceback.format_exception(error))[-8000:],
    }
    for folder in pulse.state_folders(place.common_dir, os.environ):
        path = Path(folder) / "log.jsonl"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists() and path.stat().st_size > LOG_LIMIT:
                path.replace(path.with_suffix(".old.jsonl"))
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")
            return path
        except OSError:
            continue
    return None
