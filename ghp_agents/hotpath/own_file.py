"""Safe access to our own files and temporary folders: links cannot redirect writes, and others
cannot hold our locks.

Temporary files are new and have unpredictable names. Links are never followed. New files are
readable only by their owner, unless the caller asks otherwise. Imports only `os` and `sys`,
because heartbeats use this.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SHARED_MEMORY = "/dev/shm"  # where folders cost nothing, on Linux
PREFIX = "ghp-edit-"  # of the names of temporary folders; a fold removes those of killed processes
CLONES = ".config/ghp-cli/clones"  # below the home folder, beside the person's consent
PRIVATE = 0o600
LIKE_GIT = 0o666  # minus the umask, as git creates its files
# O_NONBLOCK: a pipe in place of a file must not block us.
_PLAIN = os.O_NOFOLLOW | os.O_NONBLOCK
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
presences = 0  # that this process wrote; what it read before may be old


def home_folder(common_dir: str, environ: "Mapping[str, str]") -> str:
    """The clone's folder in the home, for cached values that decide what runs. A run in a sandbox
    may write to the git folder; of this one it sees an empty one of its own. Without a home the
    path is one that nobody can create, so nothing is kept."""
    path = os.fsencode(os.path.realpath(common_dir))
    home = environ.get("HOME", "")
    return f"{home if os.path.isdir(home) else os.devnull}/{CLONES}/{_sha256(path)[:32]}"


def _sha256(data: bytes) -> str:
    """By CPython's own module if there is one: `hashlib` loads OpenSSL."""
    # Its name until Python 3.11 and after. To try the other one searches all of `sys.path`.
    name = "_sha2" if sys.version_info >= (3, 12) else "_sha256"
    try:
        return str(__import__(name).sha256(data).hexdigest())
    except ImportError:
        return str(__import__("hashlib").sha256(data).hexdigest())


def replace(path: str, content: bytes, *, mode: int = PRIVATE, durable: bool = False) -> None:
    """Write `path`; a reader sees the old or the new content. With `durable` the content is on the
    disk first. Raises OSError."""
    temporary = make_beside(path, content, mode=mode, durable=durable)
    try:
        os.replace(temporary, path)
    except OSError:
        discard(temporary)
        raise


def make_beside(path: str, content: bytes, *, mode: int = PRIVATE, durable: bool = False) -> str:
    """Create a new file with this content in the folder of `path`; returns its name. Raises
    OSError."""
    folder, slash, name = path.rpartition("/")
    temporary = f"{folder}{slash}.{name}.{os.urandom(6).hex()}.tmp"
    file = os.open(temporary, _NEW, mode)
    try:
        _write_all(file, content)
        if durable:
            os.fsync(file)
    except OSError:
        discard(temporary)
        raise
    finally:
        os.close(file)
    return temporary


def sync(path: str) -> None:
    """Wait until a file's content, or a folder's list of files, is on the disk. Raises OSError."""
    file = os.open(path, os.O_RDONLY | _PLAIN)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def discard(path: str) -> None:
    """Remove a file if possible."""
    try:
        os.unlink(path)
    except OSError:
        return


def touch(path: str) -> None:
    """Create an empty file, unless it exists. Raises OSError."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | _PLAIN, PRIVATE))


def append(path: str, content: bytes) -> None:
    """Append to a file. Raises OSError."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _PLAIN, PRIVATE)
    try:
        _write_all(file, content)
    finally:
        os.close(file)


def open_to_read(path: str) -> int:
    """The descriptor of a file. Raises OSError."""
    return os.open(path, os.O_RDONLY | _PLAIN)


def open_lock(path: str) -> int:
    """The descriptor of a lock file, which is created if needed. Raises OSError.

    Anyone who can open a lock file can hold the lock, so its permissions are restricted.
    """
    try:
        file = os.open(path, os.O_RDWR | _PLAIN)  # with O_CREAT all would wait for the folder
    except FileNotFoundError:
        return os.open(path, os.O_RDWR | os.O_CREAT | _PLAIN, PRIVATE)
    if os.fstat(file).st_mode & 0o077:
        try:
            os.fchmod(file, PRIVATE)
        except OSError:  # another user's
            pass
    return file


def _write_all(file: int, content: bytes) -> None:
    written = 0
    while written < len(content):
        written += os.write(file, content[written:])


def places(environ: "Mapping[str, str]") -> "list[str]":
    """Where small temporary folders may be, best first."""
    return [SHARED_MEMORY, *places_on_disk(environ)]


def places_on_disk(environ: "Mapping[str, str]") -> "list[str]":
    """Where temporary folders of any size may be, best first."""
    return [place for place in (environ.get("TMPDIR", ""), "/tmp") if place]


def make_folder(candidates: "Sequence[str]") -> str:
    """A new folder of ours in the first of these places that works. Raises OSError."""
    failure: OSError | None = None
    for place in candidates:
        folder = f"{place}/{PREFIX}{os.getpid()}-{os.urandom(8).hex()}"
        try:
            os.mkdir(folder, 0o700)
        except OSError as error:
            failure = error
            continue
        return folder
    raise failure or FileNotFoundError("no folder for temporary files")


def left_behind(environ: "Mapping[str, str]") -> "list[str]":
    """The temporary folders of processes that have ended: they were killed."""
    folders: list[str] = []
    for place in places(environ):
        try:
            names = [name for name in os.listdir(place) if name.startswith(PREFIX)]
        except OSError:
            continue
        folders += [f"{place}/{name}" for name in names if not _runs(name)]
    return folders


def _runs(name: str) -> bool:
    pid = name.removeprefix(PREFIX).partition("-")[0]
    try:
        os.kill(int(pid), 0)
    except (ValueError, OverflowError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True


def remove_folder(folder: str) -> None:
    """Delete a folder of ours with all files."""
    try:
        for entry in list(os.scandir(folder)):
            if entry.is_dir(follow_symlinks=False):
                remove_folder(entry.path)
            else:
                discard(entry.path)
        os.rmdir(folder)
    except OSError:
        return
