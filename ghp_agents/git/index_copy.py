"""A desk: a copy of a worktree's index to work on, so that the user's own is never touched."""

import os
import stat
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.git import process as git
from ghp_agents.hotpath.locate import Location, walk_up

PATIENCE = 600.0  # seconds; hashing a large worktree takes its time

_FLAGS = (
    *("-c", "core.splitIndex=false"),  # else a part of our index would land in the user's folder
    *("-c", "core.untrackedCache=false"),
    *("-c", "core.safecrlf=false"),  # else a file with mixed line endings stops everything
    *("-c", "core.looseCompression=0"),
    *("-c", "diff.suppressBlankEmpty=false"),
)


class LeftOut(NamedTuple):
    """A file that differs and is not kept."""

    path: str
    size: int | None  # bytes; None where that means nothing
    reason: str


class ScratchIndex:
    """Git on a copied index; what it makes goes into `scratch`, which the caller throws away."""

    def __init__(self, place: Location, scratch: Path) -> None:
        assert place.toplevel is not None
        self.place = place
        self.worktree = Path(place.toplevel)
        self.is_sparse = git.config(self.worktree, "core.sparseCheckout") == "true"
        (scratch / "objects").mkdir()
        _copy_index(Path(place.git_dir, "index"), scratch / "index")
        self._env = {
            "GIT_INDEX_FILE": str(scratch / "index"),
            "GIT_OBJECT_DIRECTORY": str(scratch / "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(f"{place.common_dir}/objects"),
            "GIT_LITERAL_PATHSPECS": "1",
        }

    def run(self, *args: str, stdin: bytes | None = None) -> git.Result:
        """Run git here, whatever its exit code."""
        return git.run(
            [*_FLAGS, *args], cwd=self.worktree, env=self._env, stdin=stdin, timeout=PATIENCE
        )

    def git(self, *args: str) -> git.Result:
        """Run git here. Raises GitError unless it ends with 0."""
        result = self.run(*args)
        if result.code != 0:
            raise git.failure(args, result)
        return result

    def names(self, *args: str) -> list[str]:
        """The names that git lists, with NULs between them."""
        return [os.fsdecode(part) for part in self.git(*args).out.split(b"\0") if part]

    def size(self, path: str) -> int | None:
        """The bytes of a file of the worktree; 0 for what is no regular file."""
        try:
            status = (self.worktree / path).lstat()
        except OSError:
            return None
        return status.st_size if stat.S_ISREG(status.st_mode) else 0


def stage(desk: ScratchIndex, limit: int, passed_over: Collection[str] = ()) -> list[LeftOut]:
    """Bring the worktree's content into the copied index; answers what could not come along.

    New files are taken from the smallest on, as long as they make no more than `limit` bytes
    together, so that a forgotten folder of data costs no time; none that are `passed_over`.
    """
    refused = _try_to_add(desk, "-u")
    if refused is None:
        refused = _add(desk, _differing(desk))
    chosen, left_out = _choose_new(desk, limit, passed_over)
    refused = _add(desk, chosen) or refused
    return left_out + (_unreadable(desk, chosen) if refused else [])


def _add(desk: ScratchIndex, names: Sequence[str]) -> bool:
    """Add these; whether some could not be."""
    if not names:
        return False
    listed = b"\0".join(os.fsencode(name) for name in names)
    refused = _try_to_add(desk, "--pathspec-from-file=-", "--pathspec-file-nul", stdin=listed)
    if refused is None and len(names) > 1:
        half = len(names) // 2
        return _add(desk, names[:half]) | _add(desk, names[half:])
    return refused is not False


def _try_to_add(desk: ScratchIndex, *options: str, stdin: bytes | None = None) -> bool | None:
    """Whether some could not be added; None: nothing was, because a filter failed for one."""
    sparse = ["--sparse"] if desk.is_sparse else []
    result = desk.run("add", "--ignore-errors", *sparse, *options, stdin=stdin)
    if result.code > 1 and " filter " in result.err and result.err.rstrip().endswith(" failed"):
        return None
    if result.code > 1 and "adding files failed" not in result.err:
        raise git.failure(["add"], result)
    return result.code != 0


def _choose_new(
    desk: ScratchIndex, limit: int, passed_over: Collection[str]
) -> tuple[list[str], list[LeftOut]]:
    """The untracked files that may fit, and those that cannot."""
    chosen: list[str] = []
    left_out: list[LeftOut] = []
    room = limit
    names = (name for name in _new(desk) if name not in passed_over)
    for size, name in sorted((desk.size(name) or 0, name) for name in names):
        if name.endswith("/"):
            if not _is_own_worktree(desk, name):
                left_out.append(LeftOut(name, None, "a repository of its own"))
        elif size <= room:
            room -= size
            chosen.append(name)
        else:
            left_out.append(LeftOut(name, size, "too large"))
    return chosen, left_out


def _unreadable(desk: ScratchIndex, chosen: list[str]) -> list[LeftOut]:
    """What still differs after all was added."""
    wanted = set(chosen)
    names = _differing(desk) + [name for name in _new(desk) if name in wanted]
    return [LeftOut(name, desk.size(name), "cannot be read") for name in dict.fromkeys(names)]


def _differing(desk: ScratchIndex) -> list[str]:
    return desk.names("diff-files", "-z", "--name-only", "--ignore-submodules=all")


def _new(desk: ScratchIndex) -> list[str]:
    return desk.names("ls-files", "-z", "--others", "--exclude-standard")


def _is_own_worktree(desk: ScratchIndex, name: str) -> bool:
    """Whether an untracked repository is a linked worktree of this one: somebody else's work."""
    there = walk_up(str(desk.worktree / name))
    return there is not None and there.common_dir == desk.place.common_dir


def _copy_index(index: Path, to: Path) -> None:
    """Copy with the time of change: by it git knows which entries it must look at again."""
    try:
        with index.open("rb") as file:
            status = os.fstat(file.fileno())
            to.write_bytes(file.read())
    except FileNotFoundError:
        return  # nothing was ever staged here
    os.utime(to, ns=(status.st_atime_ns, status.st_mtime_ns))


def _quoted(path: str) -> str:
    """One entry of a colon-separated list, whatever characters the path has."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
