"""Files of our own: nobody can lead our writing elsewhere by a link, or hold our locks.

A temporary file has a name that nobody can guess, and is new. Nothing is opened through a link.
What is made here can be opened by its owner alone, unless the caller says otherwise.
Imports nothing but `os`: beats write by this.
"""

import os

PRIVATE = 0o600
LIKE_GIT = 0o666  # less the umask, as git makes its files
# A pipe in the place of a file must not stop us either.
_PLAIN = os.O_NOFOLLOW | os.O_NONBLOCK
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


def replace(path: str, content: bytes, *, mode: int = PRIVATE, durable: bool = False) -> None:
    """Give `path` this content; a reader sees the old or the new one. `durable` means that the
    content is on the disk first. Raises OSError."""
    temporary = make_beside(path, content, mode=mode, durable=durable)
    try:
        os.replace(temporary, path)
    except OSError:
        discard(temporary)
        raise


def make_beside(path: str, content: bytes, *, mode: int = PRIVATE, durable: bool = False) -> str:
    """Make a new file with this content in the folder of `path`; answers its name. Raises
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


def discard(path: str) -> None:
    """Remove a file, if that can be."""
    try:
        os.unlink(path)
    except OSError:
        return


def touch(path: str) -> None:
    """Make an empty file, if there is none. Raises OSError."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | _PLAIN, PRIVATE))


def append(path: str, content: bytes) -> None:
    """Add to the end of a file. Raises OSError."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _PLAIN, PRIVATE)
    try:
        _write_all(file, content)
    finally:
        os.close(file)


def open_to_read(path: str) -> int:
    """The descriptor of a file. Raises OSError."""
    return os.open(path, os.O_RDONLY | _PLAIN)


def open_lock(path: str) -> int:
    """The descriptor of a lock file, which is made if it is not there. Raises OSError.

    Who may open a lock file may hold the lock, so one that others can open is closed to them.
    """
    try:
        file = os.open(path, os.O_RDWR | _PLAIN)  # with O_CREAT, all would wait for the folder
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
