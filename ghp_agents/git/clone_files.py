"""Reads a person's clone from its files, because starting git takes longer than what it does.

Each function raises UnreadableRefsError where only git can tell; its caller then asks git. The
formats are those of git's `gitrepository-layout` and `gitformat-index`.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core.moment import Kept
from ghp_agents.git import plain_config, refs
from ghp_agents.git.refs import SYMBOLIC, UnreadableRefsError
from ghp_agents.hotpath import locate
from ghp_agents.hotpath.locate import Location

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.git.objects import Object

SHARED = ("refs/heads/", "refs/remotes/")  # the same in all worktrees
_BARE = re.compile(r"^\s*bare\b[\s=]*(.*?)\s*$", re.I | re.M)
_ELSEWHERE = re.compile(r"^\s*\[\s*include|worktreeconfig", re.I | re.M)
_PLAIN_INDEX = (b"DIRC\0\0\0\2", b"DIRC\0\0\0\3")  # paths are written out; later versions shorten
LEVELS = 5  # of symbolic refs, as in git
_kept = Kept()  # what a command asks again and again
HALF_MADE = "initializing"  # git's own lock reason until a worktree is complete


class Checkout(NamedTuple):
    """A worktree of the clone."""

    path: Path
    branch: str | None = None  # what is checked out, or rebased or bisected; None: on no branch
    head: str = ""  # its commit
    half_made: bool = False  # git was killed while creating it
    is_main: bool = False
    operation: str = ""  # that is in progress on its branch, so HEAD is detached: a rebase, …


def find(folder: Path) -> Location:
    """The clone around a folder."""
    place = _kept.get(folder, lambda: locate.walk_up(str(folder)))
    if place is None:
        raise UnreadableRefsError
    return place


def _exact(git_dir: Path, *names: str) -> dict[str, str]:
    """See `refs.read_exact`; each ref is read once in a moment."""
    unread = [name for name in names if not _kept.has((git_dir, name))]
    new = refs.read_exact(git_dir, *unread) if unread else {}
    for name in unread:
        _kept.put((git_dir, name), new.get(name, ""))
    targets = {name: _kept.get((git_dir, name), str) for name in names}
    return {name: target for name, target in targets.items() if target}


def ref(folder: Path, name: str) -> str:
    """The commit of a full ref; empty if there is none."""
    return _resolved(Path(find(folder).common_dir), name)


def head(folder: Path) -> str:
    """The commit that is checked out; empty before the first one."""
    place = find(folder)
    return _head(Path(place.git_dir), Path(place.common_dir))[1]


def below(folder: Path, prefix: str) -> dict[str, str]:
    """The refs whose names begin with a prefix like `refs/heads/`, with their commits."""
    common_dir = Path(find(folder).common_dir)
    targets = refs.read_refs(common_dir, prefix, symbolic=True)
    commits = {
        name: _resolved(common_dir, name) if target.startswith(SYMBOLIC) else target
        for name, target in targets.items()
    }
    return {name: commit for name, commit in commits.items() if commit}


def blob(folder: Path, commit: str, path: str) -> bytes | None:
    """The content of a file in a commit, or in that of a full ref; None if there is none."""
    common_dir = Path(find(folder).common_dir)
    commit = _resolved(common_dir, commit) if commit.startswith(SHARED) else commit
    file = _object(common_dir, f"{commit}:{path}") if commit else None
    return file.content if file and file.kind == "blob" else None


def lacks(folder: Path, commit: str, *paths: str) -> bool:
    """Whether a commit has none of these files and folders."""
    common_dir = Path(find(folder).common_dir)
    return all(_object(common_dir, f"{commit}:{path}") is None for path in paths)


def _object(common_dir: Path, name: str) -> "Object | None":
    from ghp_agents.git import loose

    try:
        return loose.find(common_dir, name)
    except loose.NotLooseError:
        raise UnreadableRefsError from None


def branches(folder: Path, *names: str) -> dict[str, str]:
    """See `worktree.branches`."""
    common_dir = Path(find(folder).common_dir)
    places = [f"refs/remotes/{remote}" for remote in refs.remotes(common_dir)]
    wanted = [f"{place}/HEAD" for place in places]
    wanted += [f"{place}/{name}" for name in names for place in ("refs/heads", *places)]
    return {
        name: target.removeprefix(SYMBOLIC) if target.startswith(SYMBOLIC) else ""
        for name, target in sorted(_exact(common_dir, *wanted).items())
        if not target.startswith(SYMBOLIC) or _resolved(common_dir, name)
    }


def worktrees(folder: Path) -> list[Checkout]:
    """The worktrees of the clone, the main one first, including those without a folder."""
    common_dir = Path(os.path.realpath(find(folder).common_dir))
    if is_bare(common_dir):
        raise UnreadableRefsError
    main = _worktree(common_dir.parent, common_dir, common_dir)
    try:
        linked = [_linked(place, common_dir) for place in _admin_folders(common_dir)]
    except OSError:
        raise UnreadableRefsError from None
    return [main, *sorted(linked, key=lambda worktree: os.fsencode(worktree.path))]


def _admin_folders(common_dir: Path) -> Iterator[Path]:
    if (common_dir / "worktrees").is_dir():
        yield from (common_dir / "worktrees").iterdir()


def _linked(admin: Path, common_dir: Path) -> Checkout:
    path = os.fsdecode((admin / "gitdir").read_bytes()).rstrip("\n")
    if not path.endswith("/.git"):
        raise UnreadableRefsError
    return _worktree(Path(os.path.normpath(admin / path)).parent, admin, common_dir)


def _worktree(path: Path, git_dir: Path, common_dir: Path) -> Checkout:
    name, commit = _head(git_dir, common_dir)
    if not commit:
        raise UnreadableRefsError
    lock = git_dir / "locked"
    reason = lock.read_text("utf-8", "replace").strip() if lock.exists() else ""
    branch = name.removeprefix("refs/heads/") or None
    return Checkout(path, branch, commit, reason == HALF_MADE, git_dir == common_dir)


def _head(git_dir: Path, common_dir: Path) -> tuple[str, str]:
    """The ref that is checked out, and its commit; each may be empty."""
    content = _exact(git_dir, "HEAD").get("HEAD", "")
    if not content.startswith(SYMBOLIC):
        return "", content
    name = content.removeprefix(SYMBOLIC)
    return name, _resolved(common_dir, name)


def _resolved(common_dir: Path, name: str) -> str:
    """The commit of a ref, also of a symbolic one; empty if there is none."""
    for _ in range(LEVELS):
        if not name.startswith(SHARED):
            raise UnreadableRefsError
        target = _exact(common_dir, name).get(name, "")
        if not target.startswith(SYMBOLIC):
            return target
        name = target.removeprefix(SYMBOLIC)
    raise UnreadableRefsError


def is_bare(common_dir: Path) -> bool:
    """Whether a git folder is a repository without a main worktree."""
    try:
        config = (common_dir / "config").read_text("utf-8", "replace")
        config = plain_config.without_our_section(config)
    except OSError:
        raise UnreadableRefsError from None
    words = [word.lower() for word in _BARE.findall(config)]
    if common_dir.name != ".git" or words != ["false"] or _ELSEWHERE.search(config):
        raise UnreadableRefsError
    return False


def may_be_tracked(folder: Path, path: str) -> bool:
    """Whether a path of this worktree may be in git's index; False is certain."""
    git_dir = Path(find(folder).git_dir)
    try:
        if any(git_dir.glob("sharedindex.*")):
            return True
        index = (git_dir / "index").read_bytes()
    except FileNotFoundError:
        return False
    except OSError:
        return True
    is_plain = index.startswith(_PLAIN_INDEX) and b"sdir" not in index  # "sdir": a sparse index
    return not is_plain or os.fsencode(path) + b"\0" in index
