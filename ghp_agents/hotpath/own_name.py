"""The name of a session: one name has one living session (docs/design/041-one-name-one-session.md).

A session keeps the name that it started with, in whatever folder it works. Another session that
would get the name of a living one is called `<name>-<part of its id>`, as long as it exists.
"""

import os
import time

from ghp_agents.hotpath import heartbeat, own_file, presence_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ghp_agents.hotpath.locate import Location

FOLDER = "/cache/sessions/"
KEPT_FOR = 30 * 86_400.0  # seconds
SILENT_FOR = 600.0  # seconds; a session without a known process is not taken for alive longer
STEM = 46  # characters of a name that are kept before the part of the id: 63 - 1 - 16
RESTING = ("idle", "stopped", "waiting")


def whoami(
    place: "Location",
    environ: "Mapping[str, str]",
    folders: "Sequence[str] | None" = None,
    *,
    begins: bool = False,
    before: str = "",
) -> str | None:
    """The agent's name: from GHP_AGENT, else what its session started with, else the worktree's
    file, else from the session. `of_session` describes the other arguments.

    `folders` are where presence is, if not at the default place.
    """
    named = (environ.get("GHP_AGENT") or "").lower()
    kind, session = heartbeat.session(environ)
    if named and not session:
        return named
    filed = heartbeat.name_file(place.git_dir)
    if not session:
        return filed or None
    folders = folders or heartbeat.state_folders(place.common_dir, environ)
    return of_session(
        folders, kind, session, named=named, filed=filed,
        pid=heartbeat.agent_pid(environ), begins=begins, before=before,
    )  # fmt: skip


def of_session(
    folders: "Sequence[str]",
    kind: str,
    session: str,
    *,
    named: str,
    filed: str,
    pid: int | None,
    begins: bool = False,
    before: str = "",
) -> str:
    """The name of a session. `named` is from the environment, `filed` from the worktree's file;
    empty without one. `pid` is the session's process, if known. With `begins`, a name that it kept
    counts after the others. `before` is another id of the session."""
    kept = find(folders, session) or (before and find(folders, before)) or ""
    if named:
        name = kept if not begins and is_second(kept, named) else named
    else:
        name = (filed or kept) if begins else (kept or filed)
    if not name:
        from ghp_agents.hotpath import session_name

        return session_name.name(folders, kind, session)
    return own(folders, name, session, pid)


def own(folders: "Sequence[str]", name: str, session: str, pid: int | None) -> str:
    """`name`, or this session's own form of it while another living session has it."""
    presence = presence_file.newest(folders, name) if heartbeat.is_name(name) else None
    if presence is None or is_of(presence, session):
        return name
    from ghp_agents.hotpath import session_name

    stem = name[:STEM]
    existing = session_name.existing(folders, stem, session)
    if existing:
        return existing
    is_used = is_in_use(folders, name, presence, pid)
    return session_name.name(folders, stem, session) if is_used else name


def is_of(presence: "Mapping[str, Any]", session: str) -> bool:
    """Whether the last heartbeat was of this session, or of none."""
    local = presence.get("local") or {}
    return local.get("session") in (None, session) or heartbeat.recorded_process(local) == session


def is_in_use(
    folders: "Sequence[str]", name: str, presence: "Mapping[str, Any]", pid: int | None
) -> bool:
    """Whether the session that sent the last heartbeat under `name` lives. One that rests gives its
    name to the next session of the same process, `pid`."""
    from ghp_agents.hotpath import alive, boot_clock

    local = presence.get("local") or {}
    if presence.get("status") == "stopped" or not local.get("session"):
        return False
    if pid and local.get("pid") == pid and local.get("space") == heartbeat.process_space():
        return presence.get("status") not in RESTING
    lives = alive.process_lives(presence)
    newest = alive.newest_presence(folders, name) if lives is None else None
    if newest is None:
        return lives is True
    return alive.silence(*newest, time.time(), boot_clock.read()) < SILENT_FOR


def is_second(name: str, first: str) -> bool:
    """Whether `name` is what a second session under the name `first` is called."""
    stem, _, part = name.rpartition("-")
    return stem == first[:STEM] and len(part) in (4, 8, 16) and not part.strip("0123456789abcdef")


def worktree_of(
    git_dir: str, agent: str, folders: "Sequence[str]", now: float, limits: "tuple[float, float]"
) -> str | None:
    """The other living agent whose worktree this is. A second session under its name may work
    there, too."""
    owner = heartbeat.name_file(git_dir)
    if owner in ("", agent) or not heartbeat.is_name(owner):
        return None
    if is_second(agent, owner):
        return None
    from ghp_agents.hotpath import alive

    return owner if alive.lives(folders, owner, now, *limits) else None


def left_worktree(
    place: "Location", agent: str, here: str, presence: "Mapping[str, Any] | None"
) -> str | None:
    """The folder of the agent's own worktree, if an edit in `place` would leave it; None if the
    agent may edit there.

    `here` is the git folder of the worktree that the session stands in; empty outside. An agent's
    own worktree is one that has its name. While it holds an issue, it stays there wherever its
    session stands. Then a linked worktree that it stands in counts, too. Who has no such worktree
    works in any, as its person does.
    """
    main, has_issue = place.common_dir, (presence or {}).get("issue") is not None
    is_own = _is_named(place.git_dir, agent)
    if is_own and (place.git_dir != main or here in ("", main)):
        return None
    if here not in ("", main) and (has_issue or _is_named(here, agent)):
        return None if here == place.git_dir else _folder(here)
    if is_own or not has_issue:
        return None
    try:
        linked = sorted(os.listdir(main + "/worktrees"))
    except OSError:
        return None
    named = (f"{main}/worktrees/{name}" for name in linked)
    return next((top for x in named if _is_named(x, agent) and (top := _folder(x))), None)


def _is_named(git_dir: str, agent: str) -> bool:
    owner = heartbeat.name_file(git_dir)
    return owner == agent or is_second(agent, owner)


def _folder(git_dir: str) -> str | None:
    """The folder of a linked worktree, if it exists."""
    from ghp_agents.hotpath.locate import worktree_at

    top = worktree_at(git_dir)
    return top if top and os.path.isdir(top) else None


def keep(folders: "Sequence[str]", ids: "Sequence[str]", name: str, now: float) -> None:
    """Remember the name of a session under each of its ids; if that fails, it is determined each
    time."""
    for place in [_digest(session) for session in ids if session]:
        for folder in folders:
            path = folder + FOLDER + place
            try:
                os.makedirs(folder + FOLDER, exist_ok=True)
                _drop_old(folder + FOLDER, now)
                own_file.replace(path, name.encode("ascii"))
            except OSError:
                continue
            break


def find(folders: "Sequence[str]", session: str) -> str:
    """The name that was kept for a session; empty if there is none."""
    place = FOLDER + _digest(session)
    for folder in folders:
        try:
            file = own_file.open_to_read(folder + place)
            try:
                name = os.read(file, 128).decode("ascii", "replace")
            finally:
                os.close(file)
        except OSError:
            continue
        if heartbeat.is_name(name):
            return name
    return ""


def _drop_old(folder: str, now: float) -> None:
    for name in os.listdir(folder):
        try:
            if os.lstat(f"{folder}/{name}").st_mtime < now - KEPT_FOR:
                os.unlink(f"{folder}/{name}")
        except FileNotFoundError:  # another process was first
            continue


def _digest(session: str) -> str:
    """The file name for a session."""
    total = 0
    for char in session[:256]:
        total = (total * 1_000_003 + ord(char)) % (2**64 - 59)
    return f"{total:016x}"
