"""The context of an event: its clone, worktree and agent."""

import os
import time

from ghp_agents.hooks.event import EDITED, RAN
from ghp_agents.hooks.paths import asked_place, is_same, place_of, with_files
from ghp_agents.hotpath import heartbeat, own_name, presence_file, process_start
from ghp_agents.hotpath.light_dataclass import dataclass
from ghp_agents.hotpath.locate import Location, is_safe, locate, walk_up

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from ghp_agents.hooks.event import Event
    from ghp_agents.wiring import App

# The variable with a client's session id. Those of other clients are inherited from an agent that
# started this one. A client that has none gets ours.
SESSION_VARIABLE = {
    "claude": "CLAUDE_CODE_SESSION_ID",
    "codex": "CODEX_THREAD_ID",
    "gemini": "GEMINI_SESSION_ID",
    "copilot": "COPILOT_AGENT_SESSION_ID",
}
OURS = "GHP_SESSION"
# They call hooks directly; their process is the session.
CALLERS = ("codex", "copilot", "gemini", "qwen")
SHELLS = ("ash", "bash", "dash", "env", "fish", "ksh", "sh", "timeout", "zsh")
PLACES = 8  # worktrees at most
WORDS = 200  # of a command, that are looked at
ENDS = "\"'`;|&()<>=,\n\t"  # characters that end a path in a command
NOWHERE = Location(None, "/dev/null", "/dev/null")


@dataclass
class HookContext:
    """All that a handler needs."""

    event: "Event"
    environ: "Mapping[str, str]"
    place: Location
    folders: "Sequence[str]"
    agent: str
    now: float
    here: str  # git folder of the worktree of this clone that the session stands in, or empty
    is_home: bool  # whether `place` is that worktree
    _app: "App | None" = None

    def presence(self) -> "dict[str, Any] | None":
        """The agent's presence on this machine."""
        return presence_file.newest(self.folders, self.agent)

    def settings(self) -> "dict[str, Any]":
        """The settings that the last command cached."""
        return heartbeat.read_settings(self.place.common_dir, self.environ)

    def app(self) -> "App":
        """The app, for handlers that need more than the presence files."""
        if self._app is None:
            self._app = self.app_at(self.place)
        return self._app

    def app_at(self, place: Location) -> "App":
        """The app in another worktree of the clone."""
        from pathlib import Path

        from ghp_agents.wiring import App

        return App(Path(place.toplevel or place.git_dir), self.environ, name=self.agent)


def find(event: "Event", environ: "Mapping[str, str]") -> HookContext | None:
    """The first context of `event`, see `find_all`."""
    return next(iter(find_all(event, environ)), None)


def find_all(event: "Event", environ: "Mapping[str, str]") -> "list[HookContext]":
    """The contexts of `event`, one for each repository that is set up and has an agent: the one
    that the session stands in, then those of the files that it edits, and after a step also other
    worktrees that it may have written to.

    Raises UsageError for an invalid agent name.
    """
    env = identified(event, environ)
    stand = with_files(_locate_cwd(event, env))
    outer = asked_place(stand.toplevel) if stand and stand.toplevel else None
    if outer and is_safe(outer, env):  # it stands in a submodule or a nested clone
        stand = outer if stand and outer.git_dir != stand.git_dir else stand
    contexts = [_context(event, env, stand, stand)] if stand else []
    if event.kind in ("edit", "batch"):
        others = other_places(event, stand)
        contexts += [_context(event, env, place, stand) for place in others if is_safe(place, env)]
    return [context for context in contexts if context]


def _context(
    event: "Event", env: "Mapping[str, str]", place: Location, stand: Location | None
) -> HookContext | None:
    """The context of a session that stands in `stand` and works in `place`; None if there is
    nothing to do."""
    folders = heartbeat.state_folders(place.common_dir, env)
    if not _is_set_up(folders):
        return None
    around = _around(place, stand)
    name = _name(event, env, around or NOWHERE, folders)
    if name and not heartbeat.is_name(name):
        from ghp_agents.core.ids import agent_name

        agent_name(name)
    if not name:
        return None
    here = around.git_dir if around else ""
    return HookContext(event, env, place, folders, name, time.time(), here, place is stand)


def _around(place: Location, stand: Location | None) -> Location | None:
    """The worktree of `place`'s clone that the session stands in: also if it stands in a submodule
    or another repository inside of that."""
    while stand and not is_same(stand.common_dir, place.common_dir):
        stand = walk_up(os.path.dirname(stand.toplevel)) if stand.toplevel else None
        if stand and stand.toplevel == "/":
            break
    return stand if stand and is_same(stand.common_dir, place.common_dir) else None


def _name(
    event: "Event", environ: "Mapping[str, str]", place: Location, folders: "Sequence[str]"
) -> str | None:
    """The name of the agent; after `/clear`, that of the session before in the same process."""
    is_start = event.kind == "start"
    before = process_start.key(heartbeat.agent_pid(environ)) if is_start and event.goes_on else ""
    begins = is_start and not event.goes_on
    return own_name.whoami(place, environ, folders, begins=begins, before=before)


def identified(event: "Event", environ: "Mapping[str, str]") -> "dict[str, str]":
    """The environment with the session and process of the event's agent."""
    env = dict(environ)
    mine = SESSION_VARIABLE.get(event.client, OURS)
    for _, variable in heartbeat.SESSION_VARIABLES:
        if variable != mine:
            env.pop(variable, None)
    if event.session:
        env[mine] = event.session
    if mine == OURS:  # it names no client, so its mark does
        from ghp_agents.hotpath import calling_client

        for client, mark in calling_client.MARKS:
            env.pop(mark, None)
            if client == event.client:
                env[mark] = "1"
    if event.client != "claude":
        env.pop("CLAUDE_PID", None)
    begins = event.client in CALLERS and event.kind in ("start", "prompt")
    pid = event.pid or (_agent_pid() if begins else None)
    if pid and not env.get("GHP_AGENT_PID"):
        env["GHP_AGENT_PID"] = str(pid)
    return env


def _agent_pid() -> int | None:
    """The agent's process: the nearest ancestor that is not a shell. None without /proc."""
    pid = os.getppid()
    for _ in range(8):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                name, _, rest = file.read(1_024).partition("(")[2].rpartition(")")
        except OSError:
            return None
        if name not in SHELLS:
            return pid if pid > 1 else None
        pid = int(rest.split()[1])
    return None


def _locate_cwd(event: "Event", environ: "Mapping[str, str]") -> Location | None:
    cwd = event.cwd
    if cwd is None:
        try:
            cwd = os.getcwd()
        except FileNotFoundError:
            return None
    # If the folder was removed, its parent may be another worktree, which is not the agent's.
    if not is_folder(cwd):
        return None
    place, real = locate(cwd, environ), os.path.realpath(cwd)
    if real == os.path.normpath(cwd):
        return place
    # Through a link, the folder itself counts, as for git.
    inner = locate(real, environ)
    is_known = place and inner and is_same(place.git_dir, inner.git_dir)
    return place if is_known else inner


def other_places(event: "Event", stand: "Location | None") -> "list[Location]":
    """The other worktrees, each once. Before an edit, one of each repository is enough."""
    is_edit = event.kind == "edit"
    places: list[Location] = []
    for path in event.paths if is_edit else _used(event):
        place = place_of(path, event.cwd)
        seen = [stand, *places] if stand else places
        if place and not any(_is_known(place, x, by_clone=is_edit) for x in seen):
            places.append(place)
        if len(places) == PLACES and not is_edit:
            break
    return places


def _is_known(place: "Location", other: "Location | None", *, by_clone: bool) -> bool:
    if other is None:
        return False
    if by_clone:
        return is_same(place.common_dir, other.common_dir)
    return is_same(place.git_dir, other.git_dir)


def _used(event: "Event") -> "Iterator[str]":
    """The paths that the tools of a step edited, or that its commands name."""
    for use in event.tool_uses:
        if use.verb == EDITED:
            yield from use.what
    for use in event.tool_uses:
        if use.verb == RAN:
            for line in use.what:
                yield from _named(line)


def _named(line: str) -> "list[str]":
    text = line[:16_384].replace("${HOME}", "~").replace("$HOME", "~")
    words = dict.fromkeys(text.translate(dict.fromkeys(map(ord, ENDS), " ")).split())
    for word in [word for word in words if word[0] == "-" and "/" in word]:
        words[word[word.index("/") :]] = None  # as in `make -C/path`
    return [word for word in words if "/" in word or word == ".." or word[0] == "~"][:WORDS]


def is_folder(path: str) -> bool:
    """Whether `path` is an absolute path of a folder; it may be any text."""
    try:
        return os.path.isabs(path) and os.path.isdir(path)
    except ValueError:  # it cannot be a path
        return False


def _is_set_up(folders: "Sequence[str]") -> bool:
    """Whether a command was ever used in this clone.

    Hooks of the user run in all repositories; nothing in a cloned repository can enable them.
    """
    return any(os.path.isdir(folder) for folder in folders)
