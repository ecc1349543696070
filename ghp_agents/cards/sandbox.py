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
PRIVATE = ("/tmp", "/dev")  # the run has them for itself
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
    except (GhpError, OSError) as error:
        return str(error)
    return "" if done.code == 0 else done.err.strip()[:200] or f"it exits with code {done.code}"


def wrap(
    words: Sequence[str], tree: Path, binds: Sequence[Bind], logins: Sequence[Path] = ()
) -> list[str]:
    """The command line for a client inside the sandbox. A later one of `binds` is in front of an
    earlier one; `logins` are hidden."""
    programs = [sys.prefix, str(Path(__file__).parents[2])]  # without them our hooks cannot run
    ours = [path for path in programs if path.startswith(tuple(f"{x}/" for x in PRIVATE))]
    hidden = [path for path in map(Path, SOCKETS) if path.exists()]
    secret = [path.resolve() for path in logins if path.exists()]
    return [
        PROGRAM, *ROOM, *(word for name in NUMBERS for word in ("--unsetenv", name)),
        *(word for path in hidden for word in _hide(path)),
        *(word for path in ours for word in ("--ro-bind-try", path, path)),
        *(word for bind in binds for word in _bound(bind)),
        *(word for path in secret for word in _hide(path)),
        "--chdir", str(tree), "--", *words,
    ]  # fmt: skip


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
