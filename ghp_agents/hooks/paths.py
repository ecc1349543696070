"""Resolves paths from events to a worktree and a path in it."""

import os

from ghp_agents.hotpath.light_dataclass import dataclass
from ghp_agents.hotpath.locate import Location, walk_up

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass
class EditTarget:
    """A file of the clone: its worktree, and its path relative to that."""

    place: Location
    path: str


def targets(
    paths: "Iterable[str]", cwd: str | None, home: Location, environ: "Mapping[str, str]"
) -> "list[EditTarget]":
    """The files among `paths` that belong to the clone of `home`, each once.

    Files of other repositories, and those in git's own folder, are left out.
    """
    targets: dict[tuple[str, str], EditTarget] = {}
    for path in paths:
        real = resolved(path, cwd)
        target = _target(real, home, environ) if real else None
        if target:
            targets[target.place.git_dir, target.path] = target
    return list(targets.values())


def resolved(path: str, cwd: str | None) -> str | None:
    """The real path, with links resolved; None if it cannot be a path. Clients and tool servers
    also take `~/…` and `file:///…`."""
    if path.startswith("~"):
        path = os.path.expanduser(path)
    elif path[:7].lower() == "file://":
        path = _of_url(path)
    if not os.path.isabs(path) and (cwd is None or not os.path.isabs(cwd)):
        return None
    try:
        return os.path.realpath(os.path.join(cwd or "/", path))
    except (OSError, ValueError):  # NUL, or a lone surrogate
        return None


def _of_url(url: str) -> str:
    from urllib.parse import unquote

    rest = unquote(url[7:], errors="surrogateescape")
    return rest if rest.startswith("/") else "/" + rest.partition("/")[2]


def place_of(path: str, cwd: str | None) -> Location | None:
    """The worktree that contains a file or folder, whether or not it exists."""
    real = resolved(path, cwd)
    if real is None:
        return None
    place = walk_up(real if os.path.isdir(real) else os.path.dirname(real))
    return place if place and place.toplevel else None


def _target(real: str, home: Location, environ: "Mapping[str, str]") -> EditTarget | None:
    place = walk_up(os.path.dirname(real))
    if place is None or not place.toplevel or not is_same(place.common_dir, home.common_dir):
        return None
    path = real[len(place.toplevel.rstrip("/")) + 1 :]
    is_home = home.toplevel is not None and is_same(place.git_dir, home.git_dir)
    return EditTarget(home if is_home else place, path) if path else None


def is_same(first: str, second: str) -> bool:
    """Whether both are the same folder, also through links or with different case."""
    if first == second:
        return True
    try:
        return os.path.samefile(first, second)
    except OSError:
        return False
