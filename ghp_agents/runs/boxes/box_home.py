"""The home of a box: the agent's own folder, with the person's files in it, which it can only read.

So a new name, a cache and a client's sessions are the agent's. Nobody executes them outside. A
client's settings, plug-ins and hooks stay the person's. A client may renew its own login.
"""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

# The box has its own of these: sessions, logs and databases of clients, and caches of tools.
OWN = frozenset({
    ".cache", ".npm", ".cargo/registry", ".cargo/git", "go/pkg", ".gradle", ".m2/repository",
    ".yarn", ".bun/install/cache", ".local/share/pnpm/store", ".local/state/ghp",
    ".claude.json",
    *(f".claude/{name}" for name in (
        "projects", "todos", "tasks", "plans", "sessions", "session-env", "shell-snapshots",
        "file-history", "history.jsonl", "statsig", "telemetry", "debug", "ide", "backups", "cache",
        "paste-cache", "stats-cache.json", "usage-data",
    )),
    *(f".codex/{name}" for name in (
        "sessions", "archived_sessions", "history.jsonl", "log", "logs", "tmp", ".tmp", "cache",
        "session_index.jsonl", "shell_snapshots", "version.json", "models_cache.json", "sqlite",
        "internal_storage.json", "installation_id",
    )),
    *(f".gemini/{name}" for name in (
        "tmp", "history", "state.json", "projects.json", "installation_id", "google_accounts.json",
    )),
    *(f".local/share/opencode/{name}" for name in (
        "storage", "log", "snapshot", "project", "tool-output",
    )),
    ".local/state/opencode", ".cursor/chats", ".cursor/projects",
})  # fmt: skip
# Programs that tools keep in a cache: the box reads the person's.
PROGRAMS = tuple(f".cache/{name}" for name in ("ms-playwright", "puppeteer", "Cypress", "selenium"))
# A database has files beside it.
OWN_PREFIXES = (".codex/state_", ".codex/logs_", ".codex/goals_", ".codex/memories_",
                ".local/share/opencode/opencode.db")  # fmt: skip
# Own at first use, with the person's content: clients rewrite these files as a whole.
COPIED = (".claude.json",)
# A client renews its login in the file.
LOGINS = (
    ".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json",
    ".local/share/opencode/auth.json", ".local/share/opencode/mcp-auth.json",
)  # fmt: skip
# Where the person has none, an empty one keeps the run from making it.
SETTINGS: Mapping[str, str] = {
    ".claude/settings.json": "{}", ".claude/settings.local.json": "{}", ".codex/config.toml": "",
    ".codex/hooks.json": "{}", ".gemini/settings.json": "{}",
}  # fmt: skip
# In these folders new names can be made; others are the person's, as a whole.
OPEN = frozenset(
    str(parent)
    for name in (*OWN, *OWN_PREFIXES, *LOGINS, *SETTINGS)
    for parent in Path(name).parents
)  # fmt: skip


class HomePart(NamedTuple):
    """A file or folder of the person's, at its own path in the box."""

    path: Path
    is_writable: bool = False
    source: Path | None = None  # of what is at another path; none: the same


def prepare(home: Path, own: Path, programs: Sequence[Path] = ()) -> list[HomePart]:
    """Make the agent's home ready, and return what of the person's `home` is mounted in it: also
    these folders with programs, if they are in a cache. No box of the agent runs meanwhile. Raises
    OSError."""
    parts = list(_parts(home, own, ""))
    for folder in (*(home / name for name in PROGRAMS), *programs):
        if any(folder.is_relative_to(home / name) for name in OWN) and folder.is_dir():
            _seat(own, str(folder.relative_to(home)), is_folder=True)
            parts.append(HomePart(folder))
    for name, empty in SETTINGS.items():
        if not (home / name).exists():
            _seat(own, name, is_folder=False)
            (own / name).write_text(empty)
            parts.append(HomePart(home / name, source=own / name))
    for name in COPIED:
        if (home / name).is_file() and not (own / name).is_file():
            _seat(own, name, is_folder=False)
            shutil.copyfile(home / name, own / name)
    return parts


def _parts(home: Path, own: Path, folder: str) -> Iterator[HomePart]:
    """What of a folder of the person's is mounted."""
    for entry in sorted((home / folder).iterdir()) if (home / folder).is_dir() else ():
        name = str(entry.relative_to(home))
        if name in OWN and entry.is_dir():
            _seat(own, name, is_folder=True)  # a client may have a link to it
            continue
        if name in OWN or name.startswith(OWN_PREFIXES) or not _is_plain(entry):
            continue
        if name in OPEN and entry.is_dir():
            _seat(own, name, is_folder=True)
            with suppress(PermissionError):
                yield from _parts(home, own, name)
            continue
        _seat(own, name, is_folder=entry.is_dir())
        yield HomePart(entry, is_writable=name in LOGINS)


def _is_plain(entry: Path) -> bool:
    """Whether it is a file or a folder, or a link to one: no socket, and no lost link."""
    try:
        return entry.is_file() or entry.is_dir()
    except OSError:  # a folder of another machine that does not answer
        return False


def _seat(own: Path, name: str, *, is_folder: bool) -> None:
    """Make the place where something is mounted. What a run has put there is removed: a link would
    lead elsewhere."""
    path = own
    parts = Path(name).parts
    for number, part in enumerate(parts, 1):
        path = path / part
        wants_folder = is_folder or number < len(parts)
        if path.is_symlink() or (path.exists() and path.is_dir() != wants_folder):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        if wants_folder:
            path.mkdir(mode=0o700, exist_ok=True)
        elif not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600))
