"""A file of the user's, rewritten: its mode and its links stay, and what others wrote meanwhile."""

import shutil
from pathlib import Path

from ghp_agents.core.errors import GhpError
from ghp_agents.hotpath import own_file as ownfile


def read(path: Path) -> bytes | None:
    """What the file holds; None where there is none. Raises GhpError."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _failed(path, "read", error) from None


def read_text(path: Path) -> str | None:
    """The same as text. Raises GhpError for what is not UTF-8, too."""
    content = read(path)
    try:
        return None if content is None else content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise GhpError(
            f"{path} is not UTF-8 text (byte {error.start}); it was left as it is.",
            hint="Save it as UTF-8, and try again.",
        ) from None


def rewrite(path: Path, before: bytes | None, after: bytes) -> None:
    """Put `after` in the place of `before`, which somebody has decided on. Raises GhpError."""
    place = path.resolve()  # a link stays one; what it leads to is written
    fresh: Path | None = None
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(ownfile.make_beside(str(place), after, mode=ownfile.LIKE_GIT))
        if before is not None:
            shutil.copymode(place, fresh)
        if read(path) != before:
            raise GhpError(
                f"Somebody wrote {path} at this moment; it was left as it is.",
                hint="Run the command again.",
            )
        fresh.replace(place)
    except OSError as error:
        raise _failed(path, "written", error) from None
    finally:
        if fresh is not None:
            ownfile.discard(str(fresh))


def delete(path: Path, top: Path) -> None:
    """Remove the file, and the folders above it that are now empty, below `top`."""
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
        f"{path} cannot be {verb}: {error.strerror or error}.", hint="Check the permissions there."
    )
