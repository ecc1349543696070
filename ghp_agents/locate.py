"""Find the repository around a folder by walking up, without starting git.

A beat happens after every tool call, and `git rev-parse` alone would cost a fifth of it. Imports
nothing but `os`. Handles linked worktrees, submodules (relative `.git` files), bare repositories.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Location:
    """Where a repository's parts are; all paths are absolute.

    A plain class: `typing.NamedTuple` alone would cost half as much as starting Python.
    """

    __slots__ = ("common_dir", "git_dir", "toplevel")

    def __init__(self, toplevel: str | None, git_dir: str, common_dir: str) -> None:
        self.toplevel = toplevel  # the worktree's folder; None inside a bare repository
        self.git_dir = git_dir  # this worktree's own git folder
        self.common_dir = common_dir  # shared by all worktrees of the clone

    def __repr__(self) -> str:
        return f"Location({self.toplevel!r}, {self.git_dir!r}, {self.common_dir!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Location) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


def locate(start: str, environ: "Mapping[str, str]") -> Location | None:
    """The repository that contains `start`, or None.

    `GIT_DIR` is honoured only where walking up finds nothing: inside a hook it may name the
    repository of somebody else's worktree.
    """
    folder = os.path.abspath(start)
    while True:
        dot_git = folder + "/.git" if folder != "/" else "/.git"
        if os.path.isdir(dot_git) and _is_git_dir(dot_git):
            return Location(folder, dot_git, _common_dir(dot_git))
        if os.path.isfile(dot_git):
            # One that leads nowhere is the end, as for git: the repository around it is another.
            git_dir = _read_pointer(dot_git, folder)
            return Location(folder, git_dir, _common_dir(git_dir)) if git_dir else None
        if _is_git_dir(folder):
            return Location(None, folder, _common_dir(folder))
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    git_dir = environ.get("GIT_DIR", "")
    if git_dir and _is_git_dir(git_dir):
        git_dir = os.path.abspath(git_dir)
        worktree = environ.get("GIT_WORK_TREE")
        return Location(worktree and os.path.abspath(worktree), git_dir, _common_dir(git_dir))
    return None


def _is_git_dir(folder: str) -> bool:
    # A linked worktree's git folder has no objects of its own but names the common folder.
    if not os.path.exists(folder + "/HEAD"):
        return False
    return os.path.exists(folder + "/commondir") or (
        os.path.isdir(folder + "/objects") and os.path.isdir(folder + "/refs")
    )


def _read_pointer(dot_git: str, folder: str) -> str | None:
    line = _read_line(dot_git)
    if not line.startswith("gitdir: "):
        return None
    git_dir = os.path.normpath(os.path.join(folder, line[len("gitdir: ") :]))
    return git_dir if _is_git_dir(git_dir) else None


def _common_dir(git_dir: str) -> str:
    pointer = _read_line(git_dir + "/commondir")
    return os.path.normpath(os.path.join(git_dir, pointer)) if pointer else git_dir


def _read_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(4096).strip()
    except OSError:
        return ""


def branch(git_dir: str) -> str | None:
    """The branch checked out in this worktree, without starting git; None when detached."""
    head = _read_line(git_dir + "/HEAD")
    name = head[len("ref: refs/heads/") :] if head.startswith("ref: refs/heads/") else ""
    # This is what HEAD says where refs are kept in tables, which only git can read.
    return name if name not in ("", ".invalid") else None
