"""Rewrites a user's file: mode and links are kept, and concurrent changes are not overwritten."""

from pathlib import Path
from stat import S_IMODE

from ghp_agents.core.errors import GhpError
from ghp_agents.hotpath import own_file


def read(path: Path) -> bytes | None:
    """The file's content; None if there is no file. Raises GhpError."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _failed(path, "read", error) from None


def read_text(path: Path) -> str | None:
    """The file's text. Also raises GhpError if it is not UTF-8."""
    content = read(path)
    try:
        return None if content is None else content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise GhpError(
            f"{path} is not UTF-8 text (byte {error.start}); it was not changed.",
            hint="Save it as UTF-8, and try again.",
        ) from None


def rewrite(path: Path, before: bytes | None, after: bytes) -> None:
    """Replace the content `before` by `after`. Raises GhpError if the file changed meanwhile."""
    place = path.resolve()  # keep a link; write to its target
    fresh: Path | None = None
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(own_file.make_beside(str(place), after, mode=own_file.LIKE_GIT))
        if before is not None:
            fresh.chmod(S_IMODE(place.stat().st_mode))
        if read(path) != before:
            raise GhpError(
                f"Another process just wrote {path}; it was not changed.",
                hint="Run the command again.",
            )
        fresh.replace(place)
    except OSError as error:
        raise _failed(path, "written", error) from None
    finally:
        if fresh is not None:
            own_file.discard(str(fresh))


def delete(path: Path, top: Path) -> None:
    """Remove the file, and then empty folders above it, below `top`."""
    path.unlink(missing_ok=True)
    for folder in path.parents:
        if folder == top or not folder.is_relative_to(top):
            return
        try:
            folder.rmdir()
        except OSError:  # it holds something else
            return


def _failed(path: Path, verb: str, error: OSError) -> GhpError:
    return GhpError(
        f"{path} cannot be {verb}: {error.strerror or error}.", hint="Check its permissions."
    )
