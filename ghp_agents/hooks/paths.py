"""From a path as an agent says it to the file that is meant: which worktree, which path in it."""

import os

from ghp_agents.locate import Location, locate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Target:
    """A file of the clone: its worktree, and its path from the top of it."""

    __slots__ = ("path", "place")

    def __init__(self, place: Location, path: str) -> None:
        self.place = place
        self.path = path


def targets(
    paths: "Iterable[str]", cwd: str | None, home: Location, environ: "Mapping[str, str]"
) -> "list[Target]":
    """The files of the clone of `home` among `paths`, each once; what lies outside of it, in
    another repository or among git's own files is none of ours."""
    found: dict[tuple[str, str], Target] = {}
    folds = _ignores_case(home.common_dir)
    for path in paths:
        real = resolved(path, cwd)
        target = _target(real, home, environ) if real else None
        if target:
            if folds:
                target.path = spelled(target.place.toplevel or "", target.path)
            found[target.place.git_dir, target.path] = target
    return list(found.values())


def resolved(path: str, cwd: str | None) -> str | None:
    """The real path, through all links; None where no system could have such a file."""
    if not os.path.isabs(path) and (cwd is None or not os.path.isabs(cwd)):
        return None
    try:
        return os.path.realpath(os.path.join(cwd or "/", path))
    except (OSError, ValueError):  # NUL, or half a surrogate pair
        return None


def _target(real: str, home: Location, environ: "Mapping[str, str]") -> Target | None:
    place = locate(os.path.dirname(real), {})
    if place is None or not place.toplevel or not _same(place.common_dir, home.common_dir):
        return None
    path = real[len(place.toplevel.rstrip("/")) + 1 :]
    return Target(home if _same(place.git_dir, home.git_dir) else place, path) if path else None


def _same(one: str, other: str) -> bool:
    """Whether two names are of one folder: links, and case where a system ignores it."""
    if one == other:
        return True
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


# ----------------------------------------------------- where upper and lower case are the same


def _ignores_case(common_dir: str) -> bool:
    """Whether git found out, when the clone was made, that its file system ignores case."""
    try:
        with open(common_dir + "/config", encoding="utf-8", errors="replace") as file:
            lines = file.read(1_000_000).lower().split("\n")
    except OSError:
        return False
    said = [line.partition("=")[2].strip() for line in lines if line.strip().startswith(_SETTING)]
    return bool(said) and said[-1] in ("true", "yes", "on", "1", "")


_SETTING = "ignorecase"


def spelled(top: str, path: str) -> str:
    """A path as its folders spell it; what is not there yet stays as it is said."""
    parts: list[str] = []
    for part in path.split("/"):
        parts.append(_entry("/".join([top, *parts]), part))
    return "/".join(parts)


def _entry(folder: str, name: str) -> str:
    try:
        names = os.listdir(folder)
    except OSError:
        return name
    if name in names:
        return name
    wanted = name.casefold()
    return next((one for one in sorted(names) if one.casefold() == wanted), name)
