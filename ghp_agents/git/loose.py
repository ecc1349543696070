"""Loose objects, read and written without a git process.

For a repository that only this program writes. What is not loose (packed, damaged) is read by one
`git cat-file`.
"""

import contextlib
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from ghp_agents.git import objects
from ghp_agents.git.objects import Object, ObjectReader, TreeEntry, tree_entries
from ghp_agents.git.refs import UnreadableRefsError, read_one
from ghp_agents.hotpath import own_file

MANY = 500  # names; git reads so many faster than Python does
NEAR = 30  # commits that are followed without git
_HEADER = 64  # bytes; more than the header of any object
_AT_ONCE = 4  # threads that wait for the disk; the kernel writes for all of them together
_HEX = frozenset("0123456789abcdef")
# Small objects that were read: they never change, and a command reads the same few many times.
_objects: dict[tuple[str, str, int | None], Object] = {}
_SMALL, _MOST = 16_000, 2_000  # bytes of one; how many
_MODE = 0o444  # of git's own loose objects


class NotLooseError(Exception):
    """The object is not here, or not whole: git may know more."""


@contextlib.contextmanager
def read_objects(
    git_dir: Path, env: Mapping[str, str] | None = None, *, largest: int | None = None
) -> Iterator[ObjectReader]:
    """As `objects.read_objects`; the process is started only if an object is not loose."""
    with contextlib.ExitStack() as stack:

        def start() -> ObjectReader:
            return stack.enter_context(objects.read_objects(git_dir, env, largest=largest))

        yield _Reader(git_dir, start, largest)


def find(git_dir: Path, name: str) -> Object | None:
    """The object called `<commit>:<path>`; None if the commit lacks the path. Raises NotLooseError
    if an object on the way is not loose."""
    return _Reader(git_dir, _no_process, None).find(name)


def _no_process() -> ObjectReader:
    raise NotLooseError


class _Reader(ObjectReader):
    """Reads files until one is missing; from then on asks git."""

    def __init__(
        self, git_dir: Path, start: Callable[[], ObjectReader], largest: int | None
    ) -> None:
        self._git_dir, self._folder = git_dir, f"{git_dir}/objects"
        self._start = start
        self._largest = largest
        self._git: ObjectReader | None = None
        self._trees: dict[str, dict[str, TreeEntry]] = {}

    def read(self, names: Sequence[str]) -> list[Object | None]:
        """See `ObjectReader.read`."""
        if self._git is None and len(names) <= MANY:
            with contextlib.suppress(NotLooseError, UnreadableRefsError):
                return [*map(self.find, names)]
        self._git = self._git or self._start()
        return self._git.read(names)

    def find(self, name: str) -> Object | None:
        """See the function `find`; also reads an object or a ref."""
        start, colon, path = name.partition(":")
        if not start:
            return None
        is_oid = len(start) in (40, 64) and _HEX.issuperset(start)
        oid = start if is_oid else self._ref(start)
        if oid is None:
            return None
        if not colon:
            return read(self._folder, oid, self._largest)
        tree = read(self._folder, oid, self._largest)
        oid = tree.content[5 : 5 + len(oid)].decode() if tree.kind == "commit" else oid
        for part in path.split("/") if path else ():
            entry = self._entries(oid).get(part)
            if entry is None:
                return None
            oid = entry.oid
        return read(self._folder, oid, self._largest)

    def _ref(self, name: str) -> str | None:
        if not name.startswith("refs/"):
            raise NotLooseError(name)
        return read_one(self._git_dir, name)

    def _entries(self, oid: str) -> dict[str, TreeEntry]:
        if oid not in self._trees:
            target = read(self._folder, oid, self._largest)
            if target.kind == "commit" or target.kind == "tag" or target.is_cut:
                raise NotLooseError(oid)
            entries = tree_entries(target.content, len(oid)) if target.kind == "tree" else []
            self._trees[oid] = {entry.name: entry for entry in entries}
        return self._trees[oid]


def read(folder: str, oid: str, largest: int | None = None) -> Object:
    """A loose object below the `objects` folder. Raises NotLooseError if it is not whole there."""
    name = folder, oid, largest
    if name not in _objects:
        new = _read(*name)
        if len(new.content) > _SMALL:
            return new
        if len(_objects) >= _MOST:
            _objects.clear()
        _objects[name] = new
    return _objects[name]


def _read(folder: str, oid: str, largest: int | None) -> Object:
    try:
        with open(f"{folder}/{oid[:2]}/{oid[2:]}", "rb") as file:
            stream = zlib.decompressobj()
            start = stream.decompress(file.read(), _HEADER)
        header, _, content = start.partition(b"\0")
        kind, _, size = header.decode("ascii").partition(" ")
        length = int(size)
        if largest is not None and length > largest:
            return Object(oid, kind, b"", True)
        content += stream.decompress(stream.unconsumed_tail, length + 1)
    except (OSError, ValueError, zlib.error):
        raise NotLooseError(oid) from None
    if len(content) != length:
        raise NotLooseError(oid)
    return Object(oid, kind, content)


def commits_between(folder: str, later: str, earlier: str | None) -> list[bytes] | None:
    """The contents of the commit `later` and of those before it, the newest first, down to
    `earlier`, which is not among them; None: down to the first one. The result is None where only
    git can tell: there are many, merges or packed ones, or `earlier` is not before `later`."""
    commits: list[bytes] = []
    while later != earlier:
        try:
            content = read(folder, later).content
        except NotLooseError:
            return None
        parents = content.partition(b"\n\n")[0].split(b"\nparent ")[1:]
        commits.append(content)
        if not parents and earlier is None:
            return commits
        if len(parents) != 1 or len(commits) == NEAR:
            return None
        later = parents[0].partition(b"\n")[0].decode()
    return commits


class NewObjects:
    """Objects to write. `flush` puts all of them on the disk; nothing points at them before."""

    def __init__(self, folder: str, oid_length: int) -> None:
        from ghp_agents.core.light_hashes import sha1, sha256

        self._folder = folder
        self._hash = sha1 if oid_length == 40 else sha256
        self._new: dict[str, tuple[str, bytes]] = {}

    def add(self, kind: str, content: bytes) -> str:
        """Remember an object; returns its id."""
        oid = self._hash(b"%s %d\0" % (kind.encode(), len(content)) + content).hexdigest()
        self._new[oid] = (kind, content)
        return oid

    def content(self, oid: str) -> bytes | None:
        """The content of an object that was added."""
        return self._new[oid][1] if oid in self._new else None

    def flush(self, *, durable: bool = True) -> None:
        """Write the objects; `durable` waits for the disk. Raises OSError."""
        written: dict[str, str] = {}
        try:
            for oid, (kind, content) in self._new.items():
                path = f"{self._folder}/{oid[:2]}/{oid[2:]}"
                if not _renewed(path):
                    data = zlib.compress(b"%s %d\0" % (kind.encode(), len(content)) + content, 1)
                    written[path] = own_file.make_beside(
                        f"{self._folder}/tmp_obj", data, mode=_MODE
                    )
            if durable:
                _sync([*written.values()])
            for path, temporary in written.items():
                os.makedirs(os.path.dirname(path), exist_ok=True)
                os.replace(temporary, path)
        finally:
            for temporary in written.values():
                own_file.discard(temporary)


def _renewed(path: str) -> bool:
    """Whether the object exists already. If so it gets a new time, so that nobody prunes it."""
    try:
        os.utime(path)
    except OSError:
        return False
    return True


def _sync(paths: Sequence[str]) -> None:
    """Wait until these files are on the disk: in threads, so that one write serves many."""
    from threading import Thread

    errors: list[OSError] = []

    def wait(some: Sequence[str]) -> None:
        for path in some:
            try:
                own_file.sync(path)
            except OSError as error:
                errors.append(error)

    shares = [paths[n::_AT_ONCE] for n in range(min(_AT_ONCE, len(paths)))]
    threads = [Thread(target=wait, args=(share,)) for share in shares[1:]]
    for thread in threads:
        thread.start()
    wait(shares[0] if shares else ())
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def tree(entries: Mapping[str, TreeEntry]) -> bytes:
    """The content of a tree object, in git's order."""
    lines: dict[bytes, bytes] = {}
    for entry in entries.values():
        name = entry.name.encode("utf-8", "surrogateescape")
        line = b"%s %s\0" % (entry.mode.encode(), name) + bytes.fromhex(entry.oid)
        lines[name + b"/" if entry.mode == "40000" else name] = line
    return b"".join([line for _, line in sorted(lines.items())])


def commit(
    tree_oid: str, parents: Sequence[str], author: str, committer: str, message: str
) -> bytes:
    """The content of a commit object. Author and committer have a name, an address and a time."""
    lines = [f"tree {tree_oid}", *[f"parent {oid}" for oid in parents]]
    lines += [f"author {author}", f"committer {committer}", "", message]
    return "\n".join(lines).encode("utf-8", "replace")
