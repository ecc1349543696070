"""The channels that `.ghp/channels.yaml` of the main worktree names. Without it there are none."""

from collections.abc import Iterable
from pathlib import Path

from ghp_agents.core import user_file
from ghp_agents.core.errors import GhpError, RefusedError
from ghp_agents.core.front_matter import HAND_WRITTEN_LIMIT
from ghp_agents.core.ids import Actor
from ghp_agents.core.json_file import object_file
from ghp_agents.messages.channels.channel import Channel, includes, parse
from ghp_agents.workspace import Workspace

FILE = ".ghp/channels.yaml"
CACHE = "channels.json"
SIZE_LIMIT = 4 * HAND_WRITTEN_LIMIT  # bytes of its characters


def path(ws: Workspace) -> Path | None:
    """The file; None without it."""
    root = ws.main_worktree
    place = root / FILE if root else None
    return place if place and place.is_file() else None


def read(ws: Workspace) -> list[Channel]:
    """The channels. Raises GhpError for a file that is wrong."""
    place = path(ws)
    if place is None:
        return []
    status = place.stat()
    stamp = [str(place), status.st_mtime_ns, status.st_size]
    cache = object_file(Path(ws.cache_dir, CACHE))  # parsing YAML takes longer than all the rest
    cached = cache.read()
    if cached.get("stamp") == stamp:
        try:
            return [_unpacked(*row) for row in cached["channels"]]
        except (KeyError, TypeError):
            pass
    try:
        if status.st_size > SIZE_LIMIT:
            raise ValueError(f"it has more than {SIZE_LIMIT} bytes")
        channels = parse(user_file.read_text(place) or "")
    except ValueError as error:
        raise GhpError(
            f"{FILE} cannot be used: {error}.", hint="`docs/messages.md` shows its form."
        ) from None
    cache.write({"stamp": stamp, "channels": channels})
    return channels


def _unpacked(
    name: str, description: str, members: list[str], writers: list[str], notifies: bool
) -> Channel:
    return Channel(name, description, tuple(members), tuple(writers), notifies)


def heard(ws: Workspace, agents: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The topics that agents hear as members of channels. A file that is wrong names none: the
    commands that use it say so."""
    try:
        channels = [channel for channel in read(ws) if channel.notifies]
    except GhpError:
        channels = []
    return {
        name: tuple(channel.name for channel in channels if includes(channel.members, Actor(name)))
        for name in agents
    }


def refuse_others(ws: Workspace, by: Actor, to: Iterable[str]) -> None:
    """Raise RefusedError if somebody may not write to a channel; GhpError if that is unknown."""
    topics = {name[1:] for name in to if name.startswith("@")}
    for channel in read(ws) if topics else ():
        if channel.name in topics and not includes(channel.writers, by):
            raise RefusedError(
                f"{by} may not write to the channel {channel.name}.",
                hint=f"`permissions` in {FILE} names who may: {', '.join(channel.writers)}.",
            )
