"""A run inside bubblewrap: it writes to its worktree, to a short list in git's folder, and to a
home of its own.

The rest of the file system can be read only, and has an empty /tmp. It sees its own processes only.
The network stays: without it no client reaches its model.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core import process
from ghp_agents.core.errors import GhpError, NotSetUpError

AUTO, ALWAYS, NEVER = "auto", "bwrap", "none"
PROGRAM = "bwrap"
PROGRAMS = (Path(sys.prefix), Path(__file__).parents[2])  # without them our hooks cannot run
ROOM = (
    "--die-with-parent", "--new-session", "--unshare-pid", "--unshare-ipc", "--ro-bind", "/", "/",
    "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--setenv", "TMPDIR", "/tmp",
)  # fmt: skip
TRY = (PROGRAM, *ROOM, "--", "/bin/sh", "-c", ":")
TRY_S = 10.0
# By these a process outside can be asked to do what the sandbox forbids.
SOCKETS = ("/run/user", "/run/docker.sock", "/run/podman", "/run/containerd")
# Stored logins for GitHub and for git, below the home folder.
LOGINS = (
    ".config/gh", ".config/hub", ".config/git/credentials", ".git-credentials", ".netrc",
    ".cache/git/credential", ".git-credential-cache",
)  # fmt: skip
PRIVATE = ("/tmp", "/dev/shm", "/dev")  # the run has them for itself
# They name caches that a box could not write; without them, caches are in its own home.
CACHES = (
    "XDG_CACHE_HOME", "XDG_STATE_HOME", "PIP_CACHE_DIR", "UV_CACHE_DIR", "PRE_COMMIT_HOME",
    "npm_config_cache", "GOCACHE", "GOMODCACHE", "RUFF_CACHE_DIR", "MYPY_CACHE_DIR",
)  # fmt: skip
# Of the run's process, which has another number in the sandbox.
NUMBERS = ("GHP_AGENT_PID", "CLAUDE_PID")


class Bind(NamedTuple):
    """A file or folder in the sandbox, and where it is on this machine."""

    path: Path
    source: Path
    is_writable: bool


def required(environ: Mapping[str, str]) -> None:
    """Raises NotSetUpError if bubblewrap does not work."""
    if why := trouble(environ):
        raise NotSetUpError(
            f"The setting `runs.sandbox` is bwrap, but it cannot be used: {why}.",
            hint="Install bubblewrap; inside a container it needs user namespaces. "
            "Or set `runs.sandbox` to auto.",
        )


def trouble(environ: Mapping[str, str]) -> str:
    """Why bubblewrap cannot be used; empty if it can."""
    try:
        done = process.run(list(TRY), cwd=Path("/"), env=environ, timeout=TRY_S)
    except FileNotFoundError:
        return "it is not installed"
    except (GhpError, OSError) as error:
        return str(error)
    return "" if done.code == 0 else done.err.strip()[:200] or f"it exits with code {done.code}"


class BoxView(NamedTuple):
    """What a box is like, besides what is bound in it."""

    hidden: Sequence[Path] = ()  # stored logins
    shown: Sequence[Path] = ()  # to be read, also below a folder that the box has for itself
    values: Mapping[str, str] = {}  # variables that only the box has


def wrap(words: Sequence[str], tree: Path, binds: Sequence[Bind], view: BoxView) -> list[str]:
    """The command line for a client inside the sandbox. A later one of `binds` is in front of an
    earlier one."""
    shown = {path for path in map(_readable, map(str, (*PROGRAMS, *view.shown, *words))) if path}
    hidden = [path for path in map(Path, SOCKETS) if path.exists()]
    secret = [path.resolve() for path in view.hidden if path.exists()]
    return [
        PROGRAM, *ROOM, *(word for name in (*NUMBERS, *CACHES) for word in ("--unsetenv", name)),
        *(word for path in hidden for word in _hide(path)),
        *(word for path in sorted(shown) for word in ("--ro-bind", path, path)),
        *(word for bind in binds for word in _bound(bind)),
        *(word for path in secret for word in _hide(path)),
        *(word for name, value in view.values.items() for word in ("--setenv", name, value)),
        "--chdir", str(tree), "--", *words,
    ]  # fmt: skip


def _readable(word: str) -> str:
    """What is shown to a box of a private folder, for a path there: a folder, and for a file the
    folder that it is in, because scripts read what is beside them. Empty for all else."""
    if not word.startswith(tuple(f"{top}/" for top in PRIVATE)) or "\0" in word:
        return ""
    path = Path(word)
    try:
        kept = path if path.is_dir() else path.parent if path.is_file() else None
    except OSError:  # a text that is no path
        return ""
    if kept is None or str(path) in PRIVATE:
        return ""
    return word if str(kept) in PRIVATE else str(kept)


def _bound(bind: Bind) -> tuple[str, str, str]:
    return "--bind" if bind.is_writable else "--ro-bind", str(bind.source), str(bind.path)


def logins(environ: Mapping[str, str]) -> list[Path]:
    """Where the person's stored logins for GitHub and git may be."""
    home = Path(environ.get("HOME") or "/")
    config = environ.get("XDG_CONFIG_HOME")
    cache = environ.get("XDG_CACHE_HOME")
    own = [environ.get("GH_CONFIG_DIR")]
    own += [f"{config}/gh", f"{config}/hub", f"{config}/git/credentials"] if config else []
    own += [f"{cache}/git/credential"] if cache else []
    return [*(home / name for name in LOGINS), *(Path(path) for path in own if path)]


def _hide(path: Path) -> list[str]:
    return ["--tmpfs", str(path)] if path.is_dir() else ["--bind", "/dev/null", str(path)]
