"""What a run in a box can write: one short list, for bubblewrap, podman and docker alike.

All else of git's folder can be read only, so what is missing there cannot be made, either. Nothing
outside may believe a file of this list, but as a record, an object, or the run's own branch.
"""

import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core.errors import RefusedError

MAIN_LOCK = "update-.git.lock"  # of the main worktree
OWN = "box"  # in the run's folder: what the box has instead of folders of the clone
# Of the clone's folder of ours. Records, presence, and what hooks note about edits and news.
RECORDS = (
    "agents", "outbox", "queue", "touched", "overridden", "told", "owed",
    "state.git/objects", "state.git/refs",
)  # fmt: skip
# Locks that only save work.
LOCKS = ("fold.lock", "state.lock", "sync.lock", "lease.lock", "part.lock")
# What a boxed program wants to leave to the person. Nothing of ours reads it.
OUT = "agent-out"
# The box has folders of its own here. Nothing outside reads them.
REPLACED = ("ghp/cache",)
# Of a worktree's own git folder: they name the configuration, a repository in it, or the agent.
LOCKED_FILES = ("commondir", "gitdir", "config.worktree", "ghp-agent")
LOCKED_FOLDERS = ("modules",)
# Of a folder of objects: it names other folders with objects.
INFO = "info"
KEPT = ".kept"  # git removes empty folders of branches; it takes this for no branch
_HEADS = "refs/heads"


class BoxPaths(NamedTuple):
    """What of a run's folders is writable. A path below another one counts more."""

    tree: Path
    common_dir: Path
    writable: tuple[Path, ...]  # folders and files of the clone, besides the worktree
    locked: tuple[Path, ...]  # below those: these are not
    own: tuple[tuple[Path, Path], ...]  # folders of the box, and what they are in front of
    modules: tuple[Path, ...] = ()  # the git folders of submodules, which it only reads


def obstacle(tree: Path, branch: str) -> str:
    """Why a box could not commit in a worktree; empty if it can."""
    if not (tree / ".git").is_file():
        return "the worktree has git's own folder, and not a link to it"
    return "" if "/" in branch else f"the branch {branch} is in no folder, beside main"


def of(tree: Path, common_dir: Path, branch: str, place: Path) -> BoxPaths:
    """What a process in this worktree, on this branch and with this folder of a run can write. It
    can commit if there is no `obstacle`. Raises RefusedError for another repository's."""
    link = tree / ".git"
    ours = common_dir / "ghp"
    folders = [ours / name for name in RECORDS]
    locked = [*_nested(tree, common_dir)]
    lock = MAIN_LOCK
    modules: tuple[Path, ...] = ()
    if link.is_file():
        git_dir = Path(tree, link.read_text().removeprefix("gitdir:").strip())
        if not git_dir.is_relative_to(common_dir / "worktrees"):
            raise RefusedError(
                f"{tree} cannot be in a sandbox: its git folder is {git_dir}.",
                hint="Use a worktree that `ghp agent-start` makes, or set `runs.sandbox` to none.",
            )
        folders += [git_dir, common_dir / "objects"]
        locked += [link, *(git_dir / name for name in (*LOCKED_FILES, *LOCKED_FOLDERS))]
        lock = f"update-{git_dir.name}.lock"
        modules = (common_dir / "modules", git_dir / "modules")
        branches = f"{_HEADS}/{branch}".rpartition("/")[0]
        if branches != _HEADS:
            folders += [common_dir / branches, common_dir / "logs" / branches]
    locked += [folder / INFO for folder in folders if folder.name == "objects"]
    own = tuple((place / OWN / name.replace("/", "-"), common_dir / name) for name in REPLACED)
    seats = (ours / name for name in (*LOCKS, lock, OUT))
    return BoxPaths(
        tree, common_dir, (*folders, *seats), tuple(dict.fromkeys(locked)), own, modules
    )


def _nested(tree: Path, common_dir: Path) -> Iterator[Path]:
    """The folders of a worktree that have other worktrees in them. Of these the link to git's
    folder must stay; a folder above it could be renamed."""
    for file in sorted(common_dir.glob("worktrees/*/gitdir")):
        with suppress(OSError, ValueError):
            path = Path(file.read_text().strip()).parent
            if path != tree and path.is_relative_to(tree) and path.is_dir():
                yield tree / path.relative_to(tree).parts[0]


def writable_paths(paths: BoxPaths) -> list[Path]:
    """Every folder and file on this machine that a box writes, but for its home. What it writes
    in `own` is at another path for the box."""
    return [paths.tree, *paths.writable, *(source for source, _ in paths.own)]


def prepare(paths: BoxPaths) -> None:
    """Make what is missing: a sandbox can only lock what exists. Raises OSError."""
    for path in paths.writable:
        if path.parent.name == "ghp" and (path.suffix == ".lock" or path.name == OUT):
            _seat(path)
        else:
            path.mkdir(parents=True, exist_ok=True)
    for path in paths.locked:
        if path.name in LOCKED_FOLDERS or path.name == INFO:
            path.mkdir(exist_ok=True)
        else:
            _touch(path)
    for folder in _branches(paths):
        _touch(folder / KEPT)
    for source, target in paths.own:
        target.mkdir(parents=True, exist_ok=True)
        source.mkdir(parents=True, exist_ok=True)
        for file in target.iterdir():  # a warm cache; a part that is just replaced is left out
            if file.is_file() and not file.is_symlink() and not file.name.startswith("."):
                with suppress(OSError):
                    shutil.copy2(file, source)


def clean(paths: BoxPaths) -> None:
    """Remove what no program outside may follow or wait for: links, pipes and sockets in the
    folders that the box could write. Of objects, git takes nothing that does not match its name.
    """
    for folder in paths.writable:
        is_deep = folder.name != "objects"
        for path in _odd(folder, is_deep=is_deep):
            with suppress(OSError):
                path.unlink()
    for folder in _branches(paths):
        with suppress(OSError):
            (folder / KEPT).unlink()


def _branches(paths: BoxPaths) -> Iterable[Path]:
    heads = (paths.common_dir / _HEADS, paths.common_dir / "logs" / _HEADS)
    return (path for path in paths.writable if any(path.is_relative_to(top) for top in heads))


def _odd(folder: Path, *, is_deep: bool) -> Iterator[Path]:
    """What is neither a file nor a folder."""
    for top, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(top, name)
            with suppress(OSError):
                mode = path.lstat().st_mode
                if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                    yield path
        if not is_deep:
            folders.clear()


def _seat(path: Path) -> None:
    """Make an empty file, unless a plain one exists. Raises OSError."""
    if os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode):
        path.unlink()  # what it leads to is not for a box
    _touch(path)


def _touch(path: Path) -> None:
    """Make an empty file, unless it exists. Links are not followed. Raises OSError."""
    if not os.path.lexists(path):
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW, 0o600))
