"""The config files of agents' clients: which clients are used, and which files they read."""

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.core import user_file
from ghp_agents.core.errors import GhpError, UsageError
from ghp_agents.core.jsonc import JsonError, parse
from ghp_agents.git import process as git
from ghp_agents.git import worktree
from ghp_agents.integrations.clients import original_state
from ghp_agents.integrations.clients.hook_entries import HOMES, NAME
from ghp_agents.workspace import Workspace

GIT = "git"  # not a client, but it has hooks, too
FOUND = "found"  # what `--hooks` means without a list


class ConfigFile(NamedTuple):
    """A config file of a client that hooks belong in."""

    client: str
    path: Path
    shown: str  # for people
    top: Path  # the worktree's folder, or the user's home
    memory: Path  # where the file's original state is kept
    is_users: bool = False

    @property
    def line(self) -> str:
        """Its line in `info/exclude`."""
        return line(self.client)

    @property
    def is_tracked(self) -> bool:
        """Whether git tracks the file."""
        return not self.is_users and _is_tracked(self.top, self.path)

    @property
    def is_hidden(self) -> bool:
        """Whether git ignores the untracked file."""
        return git.run(["check-ignore", "--quiet", "--", str(self.path)], cwd=self.top).code == 0

    @property
    def is_hidden_by_line(self) -> bool:
        """Whether git ignores it because of its line of `info/exclude`."""
        command = ["check-ignore", "--verbose", "--", str(self.path)]
        where = git.run(command, cwd=self.top).text.partition("\t")[0]
        return where.endswith(f":{self.line}") and "info/exclude:" in where

    @property
    def was_created(self) -> bool:
        """Whether we created the file."""
        origin = original_state.read(self.memory)
        return origin is not None and origin.created

    @property
    def leads_away(self) -> bool:
        """Whether a tracked link leads out of the worktree; its author may be a stranger."""
        if self.is_users or self.path.resolve().is_relative_to(self.top.resolve()):
            return False
        parts = [part for part in (self.path, *self.path.parents) if part.is_relative_to(self.top)]
        links = [part for part in parts if part != self.top and part.is_symlink()]
        return any(_is_tracked(self.top, link) for link in links)


def line(client: str) -> str:
    """The line in `info/exclude` that hides the client's file in every worktree."""
    return "/" + HOMES[client].project


def _is_tracked(top: Path, path: Path) -> bool:
    return bool(git.run(["ls-files", "--", str(path.relative_to(top))], cwd=top).text)


class NoClientError(UsageError):
    """No client was named, and none is used here."""


def chosen(words: str, present: Sequence[str]) -> list[str]:
    """The clients that `words` selects. Raises NoClientError, UsageError."""
    clients = [*HOMES, GIT]
    if words == FOUND:
        if not present:
            raise NoClientError(
                "Found no client with hooks: none is on PATH, and neither this repository nor "
                "your home folder has settings of one.",
                hint="Name the one that you use, such as `ghp agent-init --hooks claude`. "
                f"Known: {', '.join(clients)}.",
            )
        return list(present)
    wanted = [word.strip().lower() for word in words.split(",") if word.strip()]
    if FOUND in wanted:  # once alone, once with a list
        wanted = [*present, *(word for word in wanted if word != FOUND)]
    unknown = [word for word in wanted if word not in clients]
    if unknown or not wanted:
        raise UsageError(
            f"{unknown[0] if unknown else words!r} is not a client with hooks.",
            hint=f"Known clients: {', '.join(clients)}. A list has commas: `claude,git`.",
        )
    return [client for client in clients if client in wanted]


def found(folders: Iterable[Path], environ: Mapping[str, str]) -> list[str]:
    """The clients that are used here: their folder exists, or their program is on PATH."""
    return [client for client in HOMES if _is_found(client, list(folders), environ)]


def _is_found(client: str, folders: Sequence[Path], environ: Mapping[str, str]) -> bool:
    home = HOMES[client]
    places = [folder / home.folder for folder in folders]
    if any(place.is_dir() for place in [*places, own_folder(client, environ)]):
        return True
    path = environ.get("PATH", "")
    return any(shutil.which(program, path=path) for program in home.programs)


def here(ws: Workspace, clients: Sequence[str]) -> list[ConfigFile]:
    """The clients' files in every worktree of the clone."""
    folders = worktree.folders(ws.folder)
    return [
        in_worktree(ws, client, top) for client in clients if client in HOMES for top in folders
    ]


def in_worktree(ws: Workspace, client: str, top: Path) -> ConfigFile:
    """The client's file in one worktree."""
    path = top / HOMES[client].project
    memory = original_state.place(ws.common_dir, top, client)
    return ConfigFile(client, path, ws.shown(path), top, memory)


def everywhere(ws: Workspace, client: str) -> list[ConfigFile]:
    """The client's files in every worktree of the clone, then the user's."""
    return [*here(ws, [client]), users(ws.environ, client)]


def of_user(environ: Mapping[str, str], clients: Sequence[str]) -> list[ConfigFile]:
    """The clients' files in the user's home."""
    return [users(environ, client) for client in clients if client in HOMES]


def users(environ: Mapping[str, str], client: str) -> ConfigFile:
    """The client's file in the user's home."""
    folder = own_folder(client, environ)
    path = folder / HOMES[client].user
    home = _home(environ)
    shown = f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
    top = home if path.is_relative_to(home) else folder
    memory = original_state.users_place(environ, client, path)
    return ConfigFile(client, path, shown, top, memory, is_users=True)


def own_folder(client: str, environ: Mapping[str, str]) -> Path:
    below, variable = HOMES[client].own
    other = environ.get(variable) if variable else None
    return Path(other) if other else _home(environ) / below


def _home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("HOME") or "/")


def claude_settings(folders: Iterable[Path], environ: Mapping[str, str]) -> list[Path]:
    """Claude Code's settings files for work in `folders`, by precedence."""
    names = ("settings.local.json", "settings.json")
    below = [folder / ".claude" / name for folder in folders for name in names]
    return [*below, users(environ, "claude").path]


def setting(path: Path, key: str) -> Any:
    """The value of `key` in a settings file; None if the file is missing or invalid."""
    try:
        text = user_file.read_text(path)
        root = parse(text).value if text is not None else None
    except GhpError:
        return None
    return root.get(key) if isinstance(root, dict) else None


def plugins_enabled(folders: Iterable[Path], environ: Mapping[str, str]) -> list[Path]:
    """The files that enable our plugin for Claude Code."""
    paths = []
    for path in claude_settings(folders, environ):
        plugins = setting(path, "enabledPlugins")
        named = plugins.items() if isinstance(plugins, dict) else []
        if any(name.startswith(f"{NAME}@") and on is True for name, on in named):
            paths.append(path)
    return paths


@contextmanager
def with_name(target: ConfigFile) -> Iterator[None]:
    """Add the file's name to errors about its text. Raises GhpError."""
    try:
        yield
    except JsonError as error:
        where = f"{target.path}, line {error.line}: {error.reason}"
        raise GhpError(f"{where}; the file was not changed.", hint=error.hint) from None
    except GhpError as error:
        raise GhpError(
            f"{target.path}: {error}; the file was not changed.", hint=error.hint
        ) from None
