"""Reads a file of a worktree, which may belong to another agent, without following links."""

import os

from ghp_agents.hotpath import own_file

LARGEST = 4_000_000  # bytes of a file that is merged before an edit


class UndecidedError(Exception):
    """It cannot be decided whether the edit conflicts; the text says why."""


def read_file(toplevel: str, path: str) -> bytes | None:
    """The content of a worktree's file; None if there is none. Raises UndecidedError if it is too
    large, no plain file, or outside of the worktree through a link."""
    folder = os.path.dirname(f"{toplevel}/{path}")
    try:
        top = os.path.realpath(toplevel)
        if os.path.realpath(folder) != os.path.normpath(os.path.join(top, os.path.dirname(path))):
            raise UndecidedError("a folder of the file is a link")
        file = own_file.open_to_read(f"{toplevel}/{path}")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise UndecidedError(f"the file cannot be read: {error}") from None
    try:
        return _content(file)
    except OSError as error:
        raise UndecidedError(f"the file cannot be read: {error}") from None
    finally:
        os.close(file)


def _content(file: int) -> bytes:
    from stat import S_ISREG

    status = os.fstat(file)
    if not S_ISREG(status.st_mode):
        raise UndecidedError("it is not a plain file")
    if status.st_size > LARGEST:
        raise UndecidedError(f"the file has {status.st_size} bytes")
    parts = []
    left = LARGEST + 1
    while left > 0 and (part := os.read(file, left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
