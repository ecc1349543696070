"""The agent name of a session: the one it started with, in whatever folder it works."""

import os

from ghp_agents.hotpath import heartbeat, own_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ghp_agents.hooks.event import Event
    from ghp_agents.hotpath.locate import Location

FOLDER = "/cache/sessions/"
KEPT_FOR = 30 * 86_400.0  # seconds, for sessions that never ended properly


def name_of(
    event: "Event", environ: "Mapping[str, str]", place: "Location", folders: "Sequence[str]"
) -> str | None:
    """The name of the agent, from the environment, the session, or the worktree.

    A session keeps its name, because its shell commands have it in their environment.
    """
    named = environ.get("GHP_AGENT")
    if named:
        return named
    begins = event.kind == "start" and not event.goes_on
    kept = None if begins else _kept(folders, event.session)
    return kept or heartbeat.whoami(place, environ, folders)


def keep(folders: "Sequence[str]", session: str | None, name: str, now: float) -> None:
    """Remember the name of a session; if that fails, it is determined each time."""
    for path in _places(folders, session):
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            _drop_old(os.path.dirname(path), now)
            own_file.replace(path, name.encode("ascii"))
        except OSError:
            continue
        return


def is_kept(folders: "Sequence[str]", session: str | None) -> bool:
    """Whether the name of a session is remembered: it has begun, and not ended."""
    return _kept(folders, session) is not None


def forget(folders: "Sequence[str]", session: str | None) -> None:
    """Forget the name: the session is over."""
    for path in _places(folders, session):
        try:
            os.unlink(path)
        except OSError:
            continue


def _kept(folders: "Sequence[str]", session: str | None) -> str | None:
    for path in _places(folders, session):
        try:
            file = own_file.open_to_read(path)
        except OSError:
            continue
        try:
            name = os.read(file, 128).decode("ascii", "replace")
        finally:
            os.close(file)
        if heartbeat.is_name(name):
            return name
    return None


def _drop_old(folder: str, now: float) -> None:
    for name in os.listdir(folder):
        try:
            if os.lstat(f"{folder}/{name}").st_mtime < now - KEPT_FOR:
                os.unlink(f"{folder}/{name}")
        except FileNotFoundError:  # another process was first
            continue


def _places(folders: "Sequence[str]", session: str | None) -> "list[str]":
    return [folder + FOLDER + _digest(session) for folder in folders] if session else []


def _digest(session: str) -> str:
    """The file name for a session."""
    total = 0
    for char in session[:256]:
        total = (total * 1_000_003 + ord(char)) % (2**64 - 59)
    return f"{total:016x}"
