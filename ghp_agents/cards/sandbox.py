"""A run inside bubblewrap: it can write to its worktree, git's folder and its client's own folders.

The rest of the file system can be read only, and has an empty /tmp. The network stays: without it
no client reaches its model.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from ghp_agents.core import process
from ghp_agents.core.errors import GhpError, NotSetUpError
from ghp_agents.hotpath import heartbeat, own_file

AUTO, ALWAYS, NEVER = "auto", "bwrap", "none"
PROGRAM = "bwrap"
TRY = (PROGRAM, "--ro-bind", "/", "/", "--dev", "/dev", "/bin/sh", "-c", ":")
TRY_S = 10.0
# Where clients keep sessions, settings and logins, below the home folder.
CLIENT_FOLDERS = (
    ".claude", ".claude.json", ".codex", ".gemini", ".config/opencode", ".local/share/opencode",
    ".local/state/opencode", ".cache",
)  # fmt: skip
# Of these, what runs programs in the user's own sessions.
CLIENT_SET_UPS = (
    ".claude/settings.json", ".claude/hooks", ".claude/commands", ".claude/agents",
    ".claude/skills", ".codex/config.toml", ".codex/hooks.json", ".gemini/settings.json",
    ".gemini/extensions",
)  # fmt: skip
# By these a process outside can be asked to do what the sandbox forbids.
SOCKETS = ("/run/user", "/run/docker.sock", "/run/podman", "/run/containerd")
# Stored logins for GitHub and for git, below the home folder.
LOGINS = (
    ".config/gh", ".config/hub", ".config/git/credentials", ".git-credentials", ".netrc",
    ".cache/git/credential", ".git-credential-cache",
)  # fmt: skip
PRIVATE = ("/tmp", "/dev")  # the run has them for itself
# Of git's folder: they run something, or change what others do.
GUARDED = ("hooks", "config", "info", "ghp/runs", "ghp/state.git/config")
# Of a worktree's own git folder: they name the configuration.
OWN_GUARDED = ("commondir", "gitdir", "config.worktree")


def chosen(setting: str, *, has_manifest: bool, environ: Mapping[str, str]) -> bool:
    """Whether runs get a sandbox: `auto` means those with a manifest, where it works. Raises
    NotSetUpError if it must be there and does not work."""
    if setting == NEVER or (setting == AUTO and not has_manifest):
        return False
    why = trouble(environ)
    if why and setting == ALWAYS:
        raise NotSetUpError(
            f"The setting `runs.sandbox` is bwrap, but it cannot be used: {why}.",
            hint="Install bubblewrap; inside a container it needs user namespaces. "
            "Or set `runs.sandbox` to auto.",
        )
    return not why


def trouble(environ: Mapping[str, str]) -> str:
    """Why bubblewrap cannot be used; empty if it can."""
    try:
        done = process.run(list(TRY), cwd=Path("/"), env=environ, timeout=TRY_S)
    except (GhpError, OSError) as error:
        return str(error)
    return "" if done.code == 0 else done.err.strip()[:200] or f"it exits with code {done.code}"


def wrap(
    words: Sequence[str],
    tree: Path,
    common_dir: Path,
    place: Path,
    environ: Mapping[str, str],
    files: Sequence[Path] = (),
    logins: Sequence[Path] = (),
    locked: Sequence[Path] = (),
) -> list[str]:
    """The command line for a client inside the sandbox. `place` is the run's folder, of which it
    writes only `files`, and of these not `locked`; `logins` are hidden."""
    home = Path(environ.get("HOME") or "/")
    spare = heartbeat.spare_folder(str(common_dir), environ)
    writable = [str(tree), str(common_dir)]
    maybe = [*(str(home / name) for name in CLIENT_FOLDERS), spare]
    readable = [*map(str, guarded(tree, common_dir)), str(place)]
    readable += [str(home / name) for name in CLIENT_SET_UPS]
    programs = [sys.prefix, str(Path(__file__).parents[2])]  # without them our hooks cannot run
    ours = [path for path in programs if path.startswith(tuple(f"{x}/" for x in PRIVATE))]
    # Cached values that decide what runs outside: inside, the folder is empty and the run's own.
    hidden = [path for path in (*map(Path, SOCKETS), home / own_file.CLONES) if path.exists()]
    secret = [path.resolve() for path in logins if path.exists()]
    return [
        PROGRAM, "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev",
        "--tmpfs", "/tmp", "--setenv", "TMPDIR", "/tmp",
        *(word for path in hidden for word in _hide(path)),
        *(word for path in ours for word in ("--ro-bind-try", path, path)),
        *(word for path in writable for word in ("--bind", path, path)),
        *(word for path in maybe for word in ("--bind-try", path, path)),
        *(word for path in readable for word in ("--ro-bind-try", path, path)),
        *(word for path in map(str, files) for word in ("--bind", path, path)),
        *(word for path in map(str, locked) for word in ("--ro-bind", path, path)),
        *(word for path in secret for word in _hide(path)),
        "--chdir", str(tree), "--", *words,
    ]  # fmt: skip


def guarded(tree: Path, common_dir: Path) -> list[Path]:
    """The files in a run's folders that it must not write: git outside would run their content."""
    link = tree / ".git"
    own = Path(link.read_text().removeprefix("gitdir:").strip()) if link.is_file() else common_dir
    files = [*(common_dir / name for name in GUARDED), *(own / name for name in OWN_GUARDED)]
    return [*files, *([link] if link.is_file() else [])]


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
