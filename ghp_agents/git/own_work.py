"""Commits that only one worktree has: on no branch, or in its own copy of a submodule.

`git worktree remove` deletes them with the worktree's git folder.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ghp_agents.git import process as git
from ghp_agents.git.refs import SYMBOLIC, UnreadableRefsError, read_refs
from ghp_agents.hotpath import locate
from ghp_agents.hotpath.quoting import file

_OTHERS = ("refs/remotes/", "refs/tags/")
GITLINK = b"160000 "  # the mode of a submodule in the index
_GITLINK_MODE = (0o160000).to_bytes(4, "big")  # the same in its file, whatever its version
_SPLIT = b"link"  # an extension: a part of the index is in another file
MODULES = "modules"  # the folder of submodules' repositories in a git folder
OURS = "refs/worktree/ghp-agents/"
_PER_WORKTREE = ("refs/worktree/", "refs/bisect/")
_KEPT_BY_REFS = ("--branches", "--remotes", "--tags")
_COPIES = ("rebase", "commit (amend)")  # steps that repeat commits


class InnerRepository(NamedTuple):
    """A repository inside of a worktree: its folder twins, and its git folder."""

    path: str  # relative to the worktree, or its name if it is not checked out
    git_dir: Path


def on_no_branch(git_dir: Path) -> str:
    """A commit of a worktree that no branch or tag has: its own refs, or what was committed on a
    detached HEAD; empty if there is none. Raises GitError."""
    try:
        pairs = [*read_refs(git_dir, *_PER_WORKTREE).items()]
    except UnreadableRefsError:
        pairs = _refs(git_dir, *_PER_WORKTREE)
    oids = [oid for name, oid in pairs if not name.startswith(OURS)] + _detached(git_dir)
    return _missing(git_dir, oids, *_KEPT_BY_REFS)


def _run(git_dir: Path, *args: str) -> git.Result:
    # The configured worktree of a submodule may be missing; these commands need none.
    return git.run(args, cwd=git_dir, git_dir=git_dir, env={"GIT_WORK_TREE": str(git_dir)})


def _refs(git_dir: Path, *prefixes: str) -> list[tuple[str, str]]:
    args = ["for-each-ref", "--format=%(refname) %(objectname)", *prefixes]
    lines = _run(git_dir, *args).checked(args).text.splitlines()
    return [(name, oid) for name, _, oid in (line.partition(" ") for line in lines)]


def _missing(git_dir: Path, oids: list[str], *places: str) -> str:
    """The newest commit up to `oids` that none of the places has; empty if there is none."""
    args = ["rev-list", "--max-count=1", "--ignore-missing", *oids, "--not", *places, "--"]
    return _run(git_dir, *args).checked(args).text if oids else ""


def _detached(git_dir: Path) -> list[str]:
    """What HEAD was at, and no branch ever was. A step that repeats a commit replaces it."""
    oids: dict[str, None] = {}
    for before, after, step in reflog(git_dir / "logs/HEAD"):
        if step.startswith(_COPIES):
            oids.pop(before, None)
        oids[after] = None
    # What is in the log of the branch that is checked out needs no process.
    with suppress(OSError):
        head = (git_dir / "HEAD").read_text("utf-8", "replace").strip()
        common_dir = git_dir / locate.read_line(f"{git_dir}/commondir")
        for _, after, _ in reflog(common_dir / "logs" / head.removeprefix(SYMBOLIC)):
            oids.pop(after, None)
    args = ["log", "--no-show-signature", "--walk-reflogs", "--branches", "--format=%H"]
    for oid in _run(git_dir, *args).text.split() if oids else ():
        oids.pop(oid, None)
    return [*oids]


def reflog(path: Path) -> Iterator[tuple[str, str, str]]:
    """The entries of a reflog, oldest first: the commit before, the one after, and the step."""
    try:
        lines = path.read_bytes().decode("utf-8", "replace").split("\n")
    except OSError:
        return
    for line in lines:
        head, _, step = line.partition("\t")
        before, after, *_ = [*head.split(" ", 2), "", ""]
        if after.strip("0"):  # a ref that was deleted has zeros
            yield before, after, step


def stashes(common_dir: Path, branch: str) -> int:
    """How many entries of the clone's stash were made on a branch."""
    steps = [step for _, _, step in reflog(common_dir / "logs/refs/stash")]
    begins = (f"WIP on {branch}:", f"On {branch}:")
    return sum(step.startswith(begins) for step in steps)


def submodules(folder: Path, git_dir: Path) -> list[InnerRepository]:
    """The repositories inside of a worktree that git knows: those in its git folder, checked out
    or not, and those with a git folder of their own. Raises GitError."""
    embedded = [
        InnerRepository(path, folder / path / ".git")
        for path in gitlinks(folder, git_dir)
        if (folder / path / ".git").is_dir()
    ]
    return embedded + in_git_folder(git_dir)


def in_git_folder(git_dir: Path) -> list[InnerRepository]:
    """The repositories of submodules in a worktree's git folder, checked out or not."""
    modules = git_dir / MODULES
    return [
        InnerRepository(str(place.relative_to(modules)).replace(f"/{MODULES}/", "/"), place)
        for place in _git_folders(modules)
    ]


def gitlinks(folder: Path, git_dir: Path) -> list[str]:
    """The paths of submodules in the index of a worktree that is at `folder`. Raises GitError."""
    with suppress(OSError):
        index = (git_dir / "index").read_bytes()
        if _GITLINK_MODE not in index and _SPLIT not in index:
            return []
    args = ["ls-files", "-z", "--stage"]
    env = {"GIT_WORK_TREE": str(folder)}
    listed = git.check(args, cwd=folder, git_dir=git_dir, env=env).out.split(b"\0")
    return [os.fsdecode(line.partition(b"\t")[2]) for line in listed if line.startswith(GITLINK)]


def _git_folders(folder: Path) -> Iterator[Path]:
    """The git folders at or below a folder, also those of submodules' submodules."""
    if (folder / "HEAD").is_file() and (folder / "objects").is_dir():
        yield folder
        folder /= MODULES
    if folder.is_dir():
        for place in sorted(folder.iterdir()):
            if place.is_dir() and not place.is_symlink():
                yield from _git_folders(place)


def only_here(submodule: InnerRepository, twin: Path | None = None) -> str:
    """Why the repository of a submodule must not go: a commit or stash that none of its remotes
    has, nor its `twin`, the git folder of the same submodule elsewhere. Empty if there is none.
    Raises GitError."""
    place = submodule.git_dir
    # Tags are the remote's, unless they were committed here; then HEAD was at them, too.
    oids = [oid for name, oid in _refs(place) if not name.startswith(_OTHERS)]
    oids += [*_run(place, "rev-parse", "--quiet", "--verify", "HEAD").text.split()]
    oids += _detached(place)
    missing = _missing(place, oids, "--remotes")
    if missing and twin is not None and (twin / "HEAD").is_file():
        twins = [oid for _, oid in _refs(twin)]
        twins += _run(twin, "rev-parse", "--quiet", "--verify", "HEAD").text.split()
        missing = _missing(place, oids, "--remotes", *twins)
    if not missing:
        return ""
    args = ["for-each-ref", f"--contains={missing}", "--format=%(refname:short)", "--count=1"]
    name = _run(place, *args).text
    where = f" on {file(name)}" if name else ""
    return f"commit {missing[:12]}{where} of {file(submodule.path)} is on none of its remotes"
