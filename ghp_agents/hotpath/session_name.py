"""The name of an unnamed session: its kind, and part of its id."""

import os
import time

from ghp_agents.hotpath import presence_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SUFFIXES = (4, 8, 16)  # hex digits of the session id in its name
GONE = 86_400.0  # seconds without a heartbeat, after which a session's name can be reused


def name(folders: "Sequence[str]", kind: str, session: str) -> str:
    """The shortest free name for this session, or the one it has; longer if another session uses
    the short one."""
    free = None
    names = _candidates(kind, session)
    for candidate in names:
        sessions = _sessions(folders, candidate)
        if session in sessions:
            return candidate
        if free is None and (not sessions or _is_gone(folders, candidate)):
            free = candidate
    return free or names[-1]


def existing(folders: "Sequence[str]", kind: str, session: str) -> str:
    """The name of this kind that this session has already; empty if it has none."""
    for candidate in _candidates(kind, session):
        sessions = _sessions(folders, candidate)
        if not sessions:
            break
        if session in sessions:
            return candidate
    return ""


def _candidates(kind: str, session: str) -> "list[str]":
    return [f"{kind}-{short(session, size)}" for size in SUFFIXES]


def _sessions(folders: "Sequence[str]", candidate: str) -> "list[str]":
    """The sessions that used a name, the last one first; empty if none is known."""
    presence = presence_file.newest(folders, candidate)
    local = presence.get("local", {}) if presence else {}
    here = local.get("session")
    return [here, *local.get("left", ())] if here is not None else []


def _is_gone(folders: "Sequence[str]", agent: str) -> bool:
    """Whether the last heartbeat is so old that the session will hardly return."""
    for folder in folders:
        try:
            if os.stat(folder + "/agents/" + agent + ".json").st_mtime > time.time() - GONE:
                return False
        except OSError:
            continue
    return True


def short(session: str, size: int = 4) -> str:
    """Hex digits that represent a session in a name; more if a shorter form is taken."""
    digits = [char for char in session.lower() if char in "0123456789abcdef"]
    if len(digits) >= max(8, size):
        return "".join(digits[-size:])
    total, modulus = 0, 65_521 if size == 4 else 16**size - 59
    for char in session:
        total = (total * 131 + ord(char)) % modulus
    return f"{total:0{size}x}"
