"""Reads git's objects through one `git cat-file --batch` process.

Starting git takes longer than reading a hundred objects. So a process that was used is kept, and
serves the next reader of the same repository. It sees objects and refs that are written meanwhile.
"""

import atexit
import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from ghp_agents.git import process as git
from ghp_agents.git.process import GitError

MOST_IDLE = 1  # processes; a command reads one repository


class Object(NamedTuple):
    """One git object."""

    oid: str
    kind: str  # blob, tree, commit, tag
    content: bytes
    is_cut: bool = False  # too large: the content was not read


class _Source(NamedTuple):
    """What a process reads."""

    git_dir: Path
    inode: int  # another repository may come in the folder's place
    env: dict[str, str]


_idle: list[tuple[_Source, git.Process]] = []  # the last one used at the end


@contextlib.contextmanager
def read_objects(
    git_dir: Path, env: Mapping[str, str] | None = None, *, largest: int | None = None
) -> Iterator["ObjectReader"]:
    """Read many objects through one process; objects above `largest` bytes without content.

    Raises NotSetUpError (no git, or no such folder).
    """
    source = _Source(git_dir, _inode(git_dir), git.environment(env))
    process = _take_idle(source) or git.start(["cat-file", "--batch"], git_dir=git_dir, env=env)
    assert process.stdin is not None
    assert process.stdout is not None
    is_read = False
    try:
        yield ObjectReader(process.stdin, process.stdout, largest)
        is_read = True
    finally:
        if is_read:
            _idle.append((source, process))
            end_idle(MOST_IDLE)
        else:
            _end(process)  # there may be unread answers in the pipe


def read_blobs(
    git_dir: Path, names: Sequence[str], env: Mapping[str, str] | None = None, *, largest: int
) -> list[bytes | None]:
    """The contents of files by their names in git; None for each that is missing, no file, or has
    more than `largest` bytes. Raises NotSetUpError, GitError."""
    with read_objects(git_dir, env, largest=largest) as reader:
        objects = reader.read(names)
    return [x.content if x and x.kind == "blob" and not x.is_cut else None for x in objects]


def _inode(folder: Path) -> int:
    try:
        return folder.stat().st_ino
    except OSError:
        return 0


def _take_idle(source: _Source) -> git.Process | None:
    for number, (other, process) in enumerate(_idle):
        if other == source:
            del _idle[number]
            if process.poll() is None:
                return process
            _end(process)
            break
    return None


def end_idle(kept: int = 0) -> None:
    """End the processes that nobody uses, except the `kept` last ones."""
    while len(_idle) > kept:
        _end(_idle.pop(0)[1])


def _end(process: git.Process) -> None:
    if process.poll() is None:
        git.kill(process)  # closed pipes do not end it while a forked process has them, too
    for pipe in (process.stdin, process.stdout):
        with contextlib.suppress(BrokenPipeError):
            if pipe:
                pipe.close()
    process.wait()


def _forget() -> None:
    """In a forked process: the processes and their pipes are the parent's."""
    for _, process in _idle:
        process.returncode = 0  # so that nothing waits for it
    _idle.clear()


atexit.register(end_idle)
os.register_at_fork(after_in_child=_forget)


class ObjectReader:
    """A client of a `git cat-file --batch` process."""

    # Requests are written before replies are read, so a batch must fit any pipe. A user with many
    # pipes gets only 4 kB each.
    _AT_ONCE = 4_000

    def __init__(self, requests: IO[bytes], answers: IO[bytes], largest: int | None = None) -> None:
        self._requests = requests
        self._answers = answers
        self._largest = largest

    def read(self, names: Sequence[str]) -> list[Object | None]:
        """The objects `names` (an oid, or `<ref>:<path>`); None for each missing one, and for an
        empty name. Raises GitError if git exits early.
        """
        wanted = [name for name in names if name]
        try:
            objects = iter([item for some in self._portions(wanted) for item in self._ask(some)])
            return [next(objects) if name else None for name in names]
        except BrokenPipeError:
            raise _ended_early() from None

    def _portions(self, names: Sequence[str]) -> Iterator[list[str]]:
        some: list[str] = []
        size = 0
        for name in names:
            length = len(name.encode("utf-8", "surrogateescape")) + 1
            if some and size + length > self._AT_ONCE:
                yield some
                some, size = [], 0
            some.append(name)
            size += length
        if some:
            yield some

    def _ask(self, names: Sequence[str]) -> list[Object | None]:
        # A name with a line end would be two requests; no object has such a name.
        requests = ["" if "\n" in name else name for name in names]
        lines = "".join(f"{name}\n" for name in requests)
        self._requests.write(lines.encode("utf-8", "surrogateescape"))
        self._requests.flush()
        return [self._answer() for _ in names]

    def _answer(self) -> Object | None:
        header = self._answers.readline()
        if not header.endswith(b"\n"):
            raise _ended_early()
        # For a missing object git prints its name, which may contain spaces, and one of these
        # words.
        if header.endswith((b" missing\n", b" ambiguous\n")):
            return None
        oid, kind, length = header.split()
        size = int(length)
        is_cut = self._largest is not None and size > self._largest
        content = b"" if is_cut else self._answers.read(size)
        passed = self._pass_over(size) if is_cut else len(content)
        if passed != size or self._answers.read(1) != b"\n":
            raise _ended_early()
        return Object(oid.decode(), kind.decode(), content, is_cut)

    def _pass_over(self, size: int) -> int:
        left = size
        while left and (some := self._answers.read(min(left, 1_000_000))):
            left -= len(some)
        return size - left


def _ended_early() -> GitError:
    return GitError(
        "`git cat-file` ended early.", hint="The state may be damaged: run `ghp agent-doctor`."
    )


class TreeEntry(NamedTuple):
    """One line of a tree."""

    mode: str
    name: str
    oid: str


def tree_entries(content: bytes, oid_length: int) -> list[TreeEntry]:
    """The entries of a tree object; `oid_length` counts hex digits (40, or 64 for sha256)."""
    entries: list[TreeEntry] = []
    width = oid_length // 2
    position = 0
    while position < len(content):
        end = content.index(b"\0", position)
        mode, _, name = content[position:end].partition(b" ")
        oid = content[end + 1 : end + 1 + width].hex()
        entries.append(TreeEntry(mode.decode(), name.decode("utf-8", "surrogateescape"), oid))
        position = end + 1 + width
    return entries
