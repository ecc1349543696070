"""A copy of a worktree's index to work on; the user's own index stays untouched."""

import os
import stat
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ghp_agents.git import process as git
from ghp_agents.hotpath.locate import Location, walk_up

TIMEOUT_S = 600.0  # seconds; hashing a large worktree takes time

_FLAGS = (
    *("-c", "core.splitIndex=false"),  # otherwise git writes part of our index to the user's folder
    *("-c", "core.untrackedCache=false"),
    *("-c", "core.safecrlf=false"),  # otherwise a file with mixed line endings fails the command
    *("-c", "core.looseCompression=0"),
    *("-c", "diff.suppressBlankEmpty=false"),
)


class LeftOut(NamedTuple):
    """A changed file that is not stored."""

    path: str
    size: int | None  # bytes; None if it has no meaningful size
    reason: str


class ScratchIndex:
    """Git on a copied index. New objects go to `objects`, by default a new folder of `scratch`. The
    caller deletes both. `flags` and `env` are added to each call."""

    def __init__(
        self, place: Location, scratch: Path, objects: Path | None = None,
        flags: Sequence[str] = (), env: Mapping[str, str] | None = None,
        keep_open: Sequence[int] = (),
    ) -> None:  # fmt: skip
        assert place.toplevel is not None
        self.keep_open = keep_open  # descriptors of locks that git must hold, too
        self.place = place
        self.worktree = Path(place.toplevel)
        if objects is None:
            objects = scratch / "objects"
            objects.mkdir()
        self.file = scratch / "index"
        self._copied = _copy_index(Path(place.git_dir, "index"), self.file)
        self._flags = (*_FLAGS, *flags)
        self.env = {
            **(env or {}),
            "GIT_INDEX_FILE": str(self.file),
            "GIT_LITERAL_PATHSPECS": "1",
            **borrowed(f"{place.common_dir}/objects", str(objects)),
        }

    @cached_property
    def is_sparse(self) -> bool:
        """Whether the worktree has only a part of the files."""
        return (
            Path(self.place.git_dir, "info/sparse-checkout").exists()
            and git.config(self.worktree, "core.sparseCheckout") == "true"
        )

    def run(self, *args: str, stdin: bytes | None = None, index: Path | None = None) -> git.Result:
        """Run git here, whatever its exit code; on another index file if one is named."""
        env = {**self.env, "GIT_INDEX_FILE": str(index)} if index else self.env
        return git.run(
            [*self._flags, *args], cwd=self.worktree, env=env, stdin=stdin, timeout=TIMEOUT_S,
            keep_open=self.keep_open,
        )  # fmt: skip

    def git(self, *args: str, stdin: bytes | None = None, index: Path | None = None) -> git.Result:
        """Run git here. Raises GitError unless it exits with 0."""
        return self.run(*args, stdin=stdin, index=index).checked(args)

    def names(self, *args: str) -> list[str]:
        """The NUL-separated names that git lists."""
        return self.git(*args).names

    def is_current(self) -> bool:
        """Whether the worktree's index is still the one that was copied."""
        return self._copied == _version(Path(self.place.git_dir, "index"))

    def size(self, path: str) -> int | None:
        """The bytes of a file of the worktree; 0 unless it is a regular file."""
        return size_of(self.worktree / path)


def stage(
    copy: ScratchIndex, limit: int, passed_over: Collection[str] = (), *, has_new: bool = True
) -> list[LeftOut]:
    """Stage the worktree's content in the copied index; returns what was left out.

    New files are added smallest first, up to `limit` bytes together, so a forgotten data folder
    costs no time. Files in `passed_over` are skipped; without `has_new`, git is not asked for any.
    """
    refused = _try_to_add(copy, "-u")
    if refused is None:
        refused = _add(copy, _differing(copy))
    chosen, left_out = _choose_new(copy, limit, passed_over) if has_new else ([], [])
    refused = _add(copy, chosen) or refused
    return left_out + (_unreadable(copy, chosen) if refused else [])


def _add(copy: ScratchIndex, names: Sequence[str]) -> bool:
    """Add these files; whether some could not be added."""
    if not names:
        return False
    listed = b"\0".join(os.fsencode(name) for name in names)
    refused = _try_to_add(copy, "--pathspec-from-file=-", "--pathspec-file-nul", stdin=listed)
    if refused is None and len(names) > 1:
        half = len(names) // 2
        return _add(copy, names[:half]) | _add(copy, names[half:])
    return refused is not False


def _try_to_add(copy: ScratchIndex, *options: str, stdin: bytes | None = None) -> bool | None:
    """Whether some could not be added. None: none were, because a filter failed for one."""
    sparse = ["--sparse"] if copy.is_sparse else []
    result = copy.run("add", "--ignore-errors", *sparse, *options, stdin=stdin)
    if result.code > 1 and " filter " in result.err and result.err.rstrip().endswith(" failed"):
        return None
    if result.code > 1 and "adding files failed" not in result.err:
        raise git.failure(["add"], result)
    return result.code != 0


def _choose_new(
    copy: ScratchIndex, limit: int, passed_over: Collection[str]
) -> tuple[list[str], list[LeftOut]]:
    """The untracked files that may fit, and those that cannot."""
    names = [name for name in _new(copy) if name not in passed_over]
    repositories = [
        LeftOut(name, None, "a repository of its own")
        for name in names
        if name.endswith("/") and not _is_own_worktree(copy, name)
    ]
    chosen, too_large = fitting(copy.worktree, names, limit)
    return chosen, repositories + too_large


def fitting(folder: Path, names: Iterable[str], limit: int) -> tuple[list[str], list[LeftOut]]:
    """The smallest of these files, up to `limit` bytes together, and the others."""
    chosen: list[str] = []
    left_out: list[LeftOut] = []
    files = ((size_of(folder / name) or 0, name) for name in names if not name.endswith("/"))
    for size, name in sorted(files):
        if size <= limit:
            limit -= size
            chosen.append(name)
        else:
            left_out.append(LeftOut(name, size, "too large"))
    return chosen, left_out


def size_of(path: Path) -> int | None:
    """The bytes of a file; 0 unless it is a regular one, None if it cannot be read."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def _unreadable(copy: ScratchIndex, chosen: list[str]) -> list[LeftOut]:
    """What still differs after everything was added."""
    wanted = set(chosen)
    names = _differing(copy) + [name for name in _new(copy) if name in wanted]
    return [LeftOut(name, copy.size(name), "cannot be read") for name in dict.fromkeys(names)]


def _differing(copy: ScratchIndex) -> list[str]:
    return copy.names("diff-files", "-z", "--name-only", "--ignore-submodules=all")


def _new(copy: ScratchIndex) -> list[str]:
    return copy.names("ls-files", "-z", "--others", "--exclude-standard")


def _is_own_worktree(copy: ScratchIndex, name: str) -> bool:
    """Whether an untracked repository is a linked worktree of this one, so not ours to store."""
    location = walk_up(str(copy.worktree / name))
    return location is not None and location.common_dir == copy.place.common_dir


def _copy_index(index: Path, to: Path) -> tuple[int, ...]:
    """Copy with the modification time, by which git knows which entries to check again; return
    what differs after the next change."""
    try:
        with index.open("rb") as file:
            status = os.fstat(file.fileno())
            to.write_bytes(file.read())
    except FileNotFoundError:
        return ()  # nothing was ever staged here
    os.utime(to, ns=(status.st_atime_ns, status.st_mtime_ns))
    return status.st_ino, status.st_mtime_ns, status.st_size


def _version(index: Path) -> tuple[int, ...]:
    try:
        status = index.stat()
    except FileNotFoundError:
        return ()
    return status.st_ino, status.st_mtime_ns, status.st_size


def borrowed(objects: str, scratch: str) -> dict[str, str]:
    """Variables for git to read the folder `objects`, and to write new objects to `scratch`."""
    escaped = objects.replace("\\", "\\\\").replace('"', '\\"')  # an entry of a list with colons
    return {"GIT_OBJECT_DIRECTORY": scratch, "GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{escaped}"'}
