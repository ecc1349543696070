"""The files that a model may read and change: regular text files of its worktree."""

import os
import stat
from pathlib import Path

READ_LIMIT = 8_000_000  # bytes of a file that is read or edited
NO_FOLDERS = (".git",)  # git's own files


class ToolError(Exception):
    """A tool cannot do what the model wants; the text is for the model."""


def inside(root: Path, name: object) -> Path:
    """The real path of a file of the worktree. Raises ToolError for others, also behind links."""
    if not isinstance(name, str) or not name or "\0" in name or len(name) > 4_096:
        raise ToolError("`path` must be the path of a file in the worktree.")
    top = Path(os.path.realpath(root))
    try:
        path = Path(os.path.realpath(top / name))
    except OSError as error:
        raise ToolError(f"{name[:200]}: {error.strerror}.") from None
    if path != top and top not in path.parents:
        raise ToolError(f"{name[:200]} is outside of the worktree. Use paths inside of it.")
    if any(part.casefold() in NO_FOLDERS for part in path.relative_to(top).parts):
        raise ToolError(f"{name[:200]} belongs to git. Use git's commands with `run`.")
    return path


def read_text(path: Path) -> str:
    """The text of a file, with its line ends. Raises ToolError."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        with os.fdopen(file, "rb") as source:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                raise ToolError(f"{path.name} is not a regular file.")
            if status.st_size > READ_LIMIT:
                raise ToolError(f"{path.name} has {status.st_size} bytes; use `run` or `search`.")
            return source.read(READ_LIMIT).decode("utf-8")
    except OSError as error:
        raise ToolError(f"{path.name}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise ToolError(f"{path.name} is not text in UTF-8.") from None


def write_text(path: Path, text: str) -> None:
    """Write a file, and make its folders. Raises ToolError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, flags, 0o666)
        with os.fdopen(file, "wb") as sink:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise ToolError(f"{path.name} is not a regular file.")
            sink.truncate(0)
            sink.write(text.encode("utf-8", "replace"))
    except OSError as error:
        raise ToolError(f"{path.name}: {error.strerror}.") from None


def replaced(text: str, old: str, new: str, *, everywhere: bool) -> str:
    """The text with `old` replaced by `new`; keeps CRLF. Raises ToolError if `old` is not there,
    or is there several times."""
    if "\r\n" in text and _crlf(old) in text:
        old, new = _crlf(old), _crlf(new)
    if not old:
        raise ToolError("`old_string` is empty. Use `write` for a new file.")
    if old == new:
        raise ToolError("`old_string` and `new_string` are the same.")
    count = text.count(old)
    if not count:
        raise ToolError("`old_string` is not in the file. Read the file and copy it exactly.")
    if count > 1 and not everywhere:
        raise ToolError(
            f"`old_string` is in the file {count} times. Add lines around it, or set `replace_all`."
        )
    return text.replace(old, new)


def _crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")
