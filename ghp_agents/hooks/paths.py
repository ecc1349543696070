"""Resolves paths from events to a worktree and a path in it.

Arguments of tools of MCP servers are not known, so each that names a file counts, at any depth: a
move has two, a patch any number. Tools of remote services name whose repository it is. Their paths
are relative, so only absolute ones count. What stays unknown is looked at after the step.
"""

import os

from ghp_agents.hotpath.light_dataclass import dataclass
from ghp_agents.hotpath.locate import Location, walk_up

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

FILES = ("path", "file", "uri", "source", "destination", "src", "dst", "dest", "target")
ROOTS = ("projectpath", "project_path", "project_root", "root", "cwd", "workdir")
REMOTE = ("owner", "repo", "repository", "project_id", "workspace_slug", "bucket")
PATCHES = ("patch", "diff", "input", "command")  # parts of keys of a patch
BEGINS = "*** Begin Patch"  # a patch in the form of `apply_patch`
LONGEST = 4_096  # characters of a path
DEPTH, VALUES = 6, 10_000  # of the arguments


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
    place = asked_place(real if os.path.isdir(real) else os.path.dirname(real))
    return place if place and place.toplevel else None


def asked_place(folder: str) -> Location | None:
    """The repository that decides about a folder's files: the innermost one in which a command of
    ours was used, for a submodule or a nested clone without any is a part of the one around it."""
    inner = place = with_files(walk_up(folder))
    while place and place.toplevel and not os.path.isdir(place.common_dir + "/ghp"):
        above = os.path.dirname(place.toplevel)
        place = with_files(walk_up(above)) if above != place.toplevel else None
    return place if place and place.toplevel else inner


def with_files(place: Location | None) -> Location | None:
    """The repository; with its worktree also if `core.bare` says that there is none, but an index
    does: programs set it by mistake, and editing tools do not ask git."""
    if place is None or place.toplevel or not place.git_dir.endswith("/.git"):
        return place
    if not os.path.isfile(place.git_dir + "/index"):
        return place
    return Location(place.git_dir[: -len("/.git")], place.git_dir, place.common_dir)


def _target(real: str, home: Location, environ: "Mapping[str, str]") -> EditTarget | None:
    place = asked_place(os.path.dirname(real))
    if place is None or not place.toplevel or not is_same(place.common_dir, home.common_dir):
        return None
    if real.startswith(place.git_dir + "/"):
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


def of_foreign_tool(
    client: str, tool: str, arguments: "Any", cwd: str | None, patched: "Callable[[str], list[str]]"
) -> "list[str]":
    """The files that a tool is about to change, absolute or relative to `cwd`. `patched` names
    those of a patch in the form of `apply_patch`."""
    from ghp_agents.hotpath.calling_client import may_edit

    if not may_edit(client, tool) or not isinstance(arguments, dict):
        return []
    is_remote = any(key.lower() in REMOTE for key in arguments if isinstance(key, str))
    root = _root(arguments, cwd)
    paths = (path for path in _named(arguments, patched) if not is_remote or _is_absolute(path))
    return list(dict.fromkeys(_placed(path, root, cwd) for path in paths))


def patch_in(arguments: "Any") -> str:
    """The patch in the form of `apply_patch` that a tool is given; empty without one."""
    for key, value in arguments.items() if isinstance(arguments, dict) else ():
        if isinstance(value, str) and _is_patch(str(key), value) and BEGINS in value:
            return value
    return ""


def _named(
    arguments: "Mapping[str, Any]", patched: "Callable[[str], list[str]]"
) -> "Iterator[str]":
    """The values of all keys that may name a file."""
    stack: list[tuple[str, Any, int]] = [("", arguments, 0)]
    count = 0
    while stack and count < VALUES:
        key, value, depth = stack.pop()
        count += 1
        if isinstance(value, str):
            if _is_path(key, value):
                yield value
            elif _is_patch(key, value):
                yield from patched(value) if BEGINS in value else _of_diff(value)
        elif isinstance(value, dict) and depth < DEPTH:
            stack += [(str(name), inner, depth + 1) for name, inner in value.items()]
        elif isinstance(value, list) and depth < DEPTH:
            stack += [(key, inner, depth + 1) for inner in value]


def _is_path(key: str, value: str) -> bool:
    name = key.lower()
    if name in ROOTS or not any(part in name for part in FILES):
        return False
    return 0 < len(value) <= LONGEST and "\n" not in value


def _is_patch(key: str, value: str) -> bool:
    name = key.lower()
    return "\n" in value and any(part in name for part in PATCHES)


def _of_diff(patch: str) -> "Iterator[str]":
    """The files of a patch in the form of git and `diff`."""
    for line in patch.split("\n"):
        mark, _, rest = line.rstrip("\r").partition(" ")
        if mark in ("---", "+++"):
            name = rest.partition("\t")[0].strip()
        elif mark in ("rename", "copy") and rest.startswith(("from ", "to ")):
            name = "b/" + rest.partition(" ")[2]
        else:
            continue
        if name not in ("", "/dev/null"):
            yield name[2:] if name.startswith(("a/", "b/")) else name


def _is_absolute(path: str) -> bool:
    return os.path.isabs(path) or path.startswith("~") or "://" in path


def _root(arguments: "Mapping[Any, Any]", cwd: str | None) -> str | None:
    """The folder of the server's project, which relative paths may start from."""
    for key, value in arguments.items():
        is_root = isinstance(key, str) and key.lower() in ROOTS and isinstance(value, str)
        if is_root and os.path.isabs(value) and "\0" not in value:
            return str(value)
    place = walk_up(cwd) if cwd and os.path.isabs(cwd) and "\0" not in cwd else None
    return place.toplevel if place else None


def _placed(path: str, root: str | None, cwd: str | None) -> str:
    """A relative path from the project's folder, unless it exists from the session's."""
    if _is_absolute(path) or not root or "\0" in path:
        return path
    try:
        is_here = cwd is not None and os.path.lexists(os.path.join(cwd, path))
    except ValueError:
        return path
    return path if is_here else os.path.join(root, path)
