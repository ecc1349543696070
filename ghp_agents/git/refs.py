"""Reads and moves refs on the disk: a command does both often, and need not start git each time."""

import os
import re
import time
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path

from ghp_agents.hotpath import boot_clock, own_file

_OID = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64})\n")
SYMBOLIC = "ref: "  # begins the file of a ref that stands for another one
LONGEST = 300  # bytes of a ref's file
_OWN = ("refs/worktree/", "refs/bisect/")  # of each worktree; git never packs these
WAIT_S = 1.0  # for a ref that another process moves; git's `core.filesRefLockTimeout` is 0.1
_LEVEL = rb"[A-Za-z0-9_+=-][A-Za-z0-9._+=-]*"  # git allows more
_NAME = re.compile(rb"(?!.*(\.\.|\.(lock)?(/|\Z)))" + _LEVEL + rb"(/" + _LEVEL + rb")*")


class UnreadableRefsError(Exception):
    """Only git can tell: refs are not files, or a file is not an ordinary ref."""


def read_refs(git_dir: Path, *prefixes: str, symbolic: bool = False) -> dict[str, str]:
    """The refs whose names begin with one of the prefixes, in the order of names.

    A prefix has at least one `/`. Unless some may be symbolic, as in `read_exact`, only git can
    read those. Raises UnreadableRefsError.
    """
    target = _target if symbolic else _checked
    try:
        is_linked = (git_dir / "commondir").exists()  # then most refs are elsewhere
        has_others = [prefix for prefix in prefixes if not prefix.startswith(_OWN)]
        if (git_dir / "reftable").exists() or (is_linked and has_others):
            raise UnreadableRefsError
        # Loose refs first: git removes one only when it is in the packed file.
        loose = [_loose(os.fsencode(git_dir), prefix, target) for prefix in prefixes]
        refs = _packed(git_dir, prefixes)
    except OSError:
        raise UnreadableRefsError from None
    for some in loose:
        refs.update(some)
    return dict(sorted(refs.items()))


def read_exact(git_dir: Path, *names: str) -> dict[str, str]:
    """Those of the refs `names` that exist: full name → object, or `ref: ` and the name of the ref
    that it stands for. Raises UnreadableRefsError."""
    try:
        if (git_dir / "reftable").exists():
            raise UnreadableRefsError
        refs = {name: _read_loose(git_dir, name) for name in names}  # before the packed ones
        packed = b"" if all(refs.values()) else _packed_content(git_dir)
    except OSError:
        raise UnreadableRefsError from None
    for name in names if packed else ():
        end = -1 if refs[name] else packed.find(b" %s\n" % os.fsencode(name))
        if end > 0:
            line = packed[packed.rfind(b"\n", 0, end) + 1 : end] + b"\n"
            refs[name] = _checked(os.fsencode(name), line)
    return dict(filter(itemgetter(1), refs.items()))


def read_one(git_dir: Path, name: str) -> str | None:
    """The object of one ref; None if there is no such ref. Raises UnreadableRefsError."""
    content = read_exact(git_dir, name).get(name)
    if content and content.startswith(SYMBOLIC):
        raise UnreadableRefsError
    return content


def remotes(git_dir: Path) -> list[str]:
    """The names of the remotes that have branches here. Raises UnreadableRefsError."""
    folder = git_dir / "refs/remotes"
    try:
        loose = os.listdir(folder) if folder.exists() else []
        packed = re.findall(rb" refs/remotes/([^/\n]+)/", _packed_content(git_dir))
    except OSError:
        raise UnreadableRefsError from None
    return sorted({*loose, *map(os.fsdecode, packed)})


def _read_loose(git_dir: Path, name: str) -> str:
    """The content of a ref's file; empty if it has none."""
    if not _NAME.fullmatch(os.fsencode(name)):
        raise UnreadableRefsError
    try:
        content = _content(os.fsencode(git_dir / name))
    except (IsADirectoryError, NotADirectoryError):
        return ""
    return "" if content is None else _target(os.fsencode(name), content)


def _loose(git_dir: bytes, prefix: str, target: Callable[[bytes, bytes], str]) -> dict[str, str]:
    refs: dict[str, str] = {}
    folder, wanted = prefix.rpartition("/")[0], prefix.encode()
    for place, _, files in os.walk(b"%s/%s" % (git_dir, folder.encode()), onerror=_note):
        for file in files:
            name = b"%s/%s" % (place[len(git_dir) + 1 :], file)
            if name.startswith(wanted) and not file.endswith(b".lock"):
                content = _content(b"%s/%s" % (place, file))
                if content is not None:
                    refs[os.fsdecode(name)] = target(name, content)
    return refs


def _note(error: OSError) -> None:
    if not isinstance(error, (FileNotFoundError, NotADirectoryError)):
        raise error


def _content(path: bytes) -> bytes | None:
    try:
        with open(path, "rb", buffering=0) as file:  # not by a Path: there are hundreds of refs
            return file.read(LONGEST)
    except FileNotFoundError:  # deleted, or packed meanwhile
        return None


def _target(name: bytes, content: bytes) -> str:
    if content.startswith(SYMBOLIC.encode()) and content.endswith(b"\n"):
        return content.decode("utf-8", "replace").strip()
    return _checked(name, content)


def _checked(name: bytes, content: bytes) -> str:
    oid = _OID.fullmatch(content)
    if not oid or not _NAME.fullmatch(name):
        raise UnreadableRefsError
    return oid[1].decode()


def _packed(git_dir: Path, prefixes: tuple[str, ...]) -> dict[str, str]:
    refs: dict[str, str] = {}
    for line in _packed_content(git_dir).splitlines():
        oid, space, name = line.partition(b" ")
        if space and not line.startswith((b"#", b"^")):
            refs[name.decode("utf-8", "replace")] = oid.decode("ascii", "replace")
    return {name: oid for name, oid in refs.items() if name.startswith(prefixes)}


def _packed_content(git_dir: Path) -> bytes:
    try:
        return (git_dir / "packed-refs").read_bytes()
    except FileNotFoundError:
        return b""


def swap_ref(git_dir: Path, ref: str, old: str | None, new: str) -> bool:
    """Move `ref` from `old` (None: it does not exist) to `new`, and put that on the disk. False if
    it is elsewhere, or another process is moving it; it locks the ref as git does. Raises
    UnreadableRefsError, OSError."""
    read_one(git_dir, ref)
    path = f"{git_dir}/{ref}"
    folder = path.rpartition("/")[0]
    os.makedirs(folder, exist_ok=True)
    file = _open_lock(f"{path}.lock")
    if file is None:
        return False
    is_held = True
    try:
        try:
            if read_one(git_dir, ref) != old:
                return False
            os.write(file, f"{new}\n".encode())
            os.fsync(file)
        finally:
            os.close(file)
        os.replace(f"{path}.lock", path)
        is_held = False
    finally:
        if is_held:
            own_file.discard(f"{path}.lock")
    own_file.sync(folder)
    return True


def _open_lock(path: str) -> int | None:
    """Create the lock file of a ref; None if another process keeps it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    end = time.monotonic() + WAIT_S
    while True:
        try:
            return os.open(path, flags, own_file.LIKE_GIT)
        except FileExistsError:
            if time.monotonic() > end:
                return None
        boot_clock.wait(0.002)
