"""Repositories whose git folder is not in the main worktree, as people lay them out."""

import os
from collections.abc import Callable
from pathlib import Path

from tests.support.git import git


def submodule(origin: Path, folder: Path) -> Path:
    """The project is a submodule of another repository."""
    git(folder, "init", "--quiet", "super")
    allowed = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add")
    git(folder / "super", *allowed, str(origin), "proj")
    return folder / "super/proj"


def separate(origin: Path, folder: Path) -> Path:
    """Its git folder is beside it, and nothing there names it."""
    place = folder / "tree"
    git(folder, "clone", "--quiet", f"--separate-git-dir={folder}/kept.git", str(origin), "tree")
    return place


def hidden_bare(origin: Path, folder: Path) -> Path:
    """`project/.bare`, a `.git` file that names it, and the worktrees beside both."""
    return _bare(origin, folder, ".bare", "gitdir: ./.bare\n")


def bare_in_dot_git(origin: Path, folder: Path) -> Path:
    """`project/.git` is the bare repository, and the worktrees are beside it."""
    return _bare(origin, folder, ".git")


def bare(origin: Path, folder: Path) -> Path:
    """`project/kept.git` is the bare repository."""
    return _bare(origin, folder, "kept.git")


def _bare(origin: Path, folder: Path, name: str, pointer: str = "") -> Path:
    project = folder / "project"
    project.mkdir()
    git(project, "clone", "--quiet", "--bare", str(origin), name)
    if pointer:
        (project / ".git").write_text(pointer)
    git(project / name, "worktree", "add", "--quiet", str(project / "main"), "main")
    return project / "main"


def relative(origin: Path, folder: Path) -> Path:
    """A linked worktree and its main one name each other by relative paths, as git 2.48 does with
    `worktree.useRelativePaths`."""
    git(folder, "clone", "--quiet", str(origin), "tree")
    git(folder / "tree", "worktree", "add", "--quiet", "-b", "side", str(folder / "side"))
    (folder / "side/.git").write_text("gitdir: ../tree/.git/worktrees/side\n")
    (folder / "tree/.git/worktrees/side/gitdir").write_text("../../../../side/.git\n")
    return folder / "tree"


def sparse_submodule(origin: Path, folder: Path) -> Path:
    """`git sparse-checkout` moves `core.worktree` into `config.worktree`."""
    place = submodule(origin, folder)
    git(place, "sparse-checkout", "set", "--no-cone", "/*")
    return place


LAYOUTS: dict[str, Callable[[Path, Path], Path]] = {
    layout.__name__: layout
    for layout in (
        submodule, separate, hidden_bare, bare_in_dot_git, bare, relative, sparse_submodule,
    )
}  # fmt: skip


def git_folder(top: Path) -> Path:
    """The git folder that all worktrees of the clone share, as git says."""
    return Path(os.path.realpath(top / git(top, "rev-parse", "--git-common-dir")))
