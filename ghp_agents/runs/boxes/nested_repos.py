"""Repositories that a box has left in its worktree, where git outside would read their settings.

`git status` starts git in each folder whose commit the index names, and obeys the configuration
that it finds there: filters and monitors are programs. So a repository must be where no box writes.
"""

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from ghp_agents.git import gitlinks
from ghp_agents.hotpath.quoting import file

LINK_LIMIT = 10_000  # bytes; the path of a file is shorter
ASIDE = ".git-of-a-sandbox"  # the repository's new name: git does not look there
NOTE = "Moved {}: git outside of the sandbox would have run programs that it names."


def set_aside(top: Path, safe: Collection[Path]) -> Iterator[str]:
    """Rename the git folders of nested repositories that are in none of the folders `safe`, and
    return sentences about it. Raises GhpError."""
    for path in gitlinks.recorded(top):
        folder = top / path
        inner = folder / ".git"
        if not folder.resolve().is_relative_to(top.resolve()) or not _is_there(inner):
            continue
        if _is_safe(inner, safe):
            yield from set_aside(folder, safe)
            continue
        with suppress(OSError):
            inner.rename(_free(folder))
            yield NOTE.format(file(str(inner)))


def _is_there(inner: Path) -> bool:
    return inner.is_symlink() or inner.exists()


def _is_safe(inner: Path, safe: Collection[Path]) -> bool:
    """Whether it is a link to a git folder that boxes only read."""
    if inner.is_symlink() or not inner.is_file():
        return False
    with suppress(OSError, ValueError):
        with inner.open("rb") as link:
            named = os.fsdecode(link.read(LINK_LIMIT)).removeprefix("gitdir:").strip()
        place = (inner.parent / named).resolve()
        return any(place.is_relative_to(folder.resolve()) for folder in safe)
    return False


def _free(folder: Path) -> Path:
    numbers = (f"{ASIDE}-{number}" if number else ASIDE for number in range(1_000))
    return next(folder / name for name in numbers if not _is_there(folder / name))
