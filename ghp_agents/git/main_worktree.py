"""The main worktree of a clone, also where its git folder is not inside of it.

In a submodule, `core.worktree` names it. With `git init --separate-git-dir`, nothing in the git
folder does, so `agent-init` records it. A place counts only if its `.git` leads back here: an
unpacked archive could name any folder, and we would write there.
"""

import os
from pathlib import Path

from ghp_agents.hotpath import locate
from ghp_agents.hotpath.locate import Location

RECORD = "ghp/main-worktree"  # below the git folder


def find(place: Location) -> Path | None:
    """The main worktree's folder; None for a bare repository, or if nothing names it."""
    if place.git_dir == place.common_dir and place.toplevel:
        return Path(place.toplevel)
    return find_from_inside(Path(place.common_dir))


def find_from_inside(common_dir: Path) -> Path | None:
    """The same, told by what is in the git folder alone."""
    is_bare, folder = locate.core(str(common_dir))
    if is_bare:
        return None
    places = [Path(os.path.normpath(common_dir / folder))] if folder else []
    if common_dir.name == ".git":
        places.append(common_dir.parent)
    recorded = locate.read_line(str(common_dir / RECORD))
    places += [Path(recorded)] if recorded else []
    return next((place for place in places if _leads_back(place, common_dir)), None)


def of_default_branch(common_dir: Path) -> Path | None:
    """In a bare repository, the worktree that has its default branch; None without one."""
    if not locate.core(str(common_dir))[0]:
        return None
    head, folder = locate.read_line(str(common_dir / "HEAD")), common_dir / "worktrees"
    for admin in sorted(folder.iterdir()) if folder.is_dir() else ():
        if head.startswith("ref: ") and locate.read_line(str(admin / "HEAD")) == head:
            place = locate.worktree_at(str(admin))
            if place and Path(place).is_dir():
                return Path(place)
    return None


def _leads_back(folder: Path, common_dir: Path) -> bool:
    place = locate.walk_up(str(folder)) if os.path.lexists(folder / ".git") else None
    return place is not None and locate.same(place.git_dir, str(common_dir))
