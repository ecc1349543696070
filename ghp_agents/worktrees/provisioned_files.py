"""The files that provisioning puts into a worktree: they are nobody's work."""

import os
from pathlib import Path

from ghp_agents.git import worktree
from ghp_agents.git.worktree import Difference
from ghp_agents.workspace import Workspace


def differences(ws: Workspace, folder: Path) -> list[Difference]:
    """What differs from the last commit in a worktree, without what provisioning put there."""
    names = _provisioned(ws)
    return [
        difference
        for difference in worktree.differences(folder)
        if difference.code != "??" or difference.path.rstrip("/") not in names
    ]


def _provisioned(ws: Workspace) -> set[str]:
    names = (*ws.settings.worktree_copy_files, *ws.settings.worktree_symlink_files)
    return {os.path.normpath(name) for name in names}


def unchanged_files(ws: Workspace) -> frozenset[str]:
    """The unchanged links and files from provisioning this worktree. They are not work to commit,
    but git may not ignore them: `node_modules/` in .gitignore does not match a link."""
    source, top = ws.home_worktree, ws.place.toplevel
    if source is None or top is None or source == Path(top):
        return frozenset()
    return frozenset(
        name for name in _provisioned(ws) if _is_as_put(source / name, Path(top, name))
    )


def committed(ws: Workspace, trunk: str, head: str) -> tuple[str, ...]:
    """The provisioned files in commits from `trunk` to `head`. `git add -A` adds them if git does
    not ignore them. Links are broken elsewhere. Copies may hold secrets, so one commit is enough
    to report them, even if they are removed later."""
    top, names = Path(ws.place.toplevel or ""), sorted(unchanged_files(ws))
    added = worktree.added(top, trunk, head, names) if names else []
    still = worktree.present(top, head, added) if added else []
    return tuple(name for name in added if name in still or not (top / name).is_symlink())


def _is_as_put(origin: Path, path: Path) -> bool:
    if path.is_symlink():
        return path.readlink() == origin
    import filecmp  # rarely needed

    return path.is_file() and origin.is_file() and filecmp.cmp(origin, path, shallow=False)
