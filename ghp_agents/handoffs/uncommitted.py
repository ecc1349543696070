"""Uncommitted work as it is kept with a handoff: what is stored, and what cannot be."""

from dataclasses import dataclass
from pathlib import Path

from ghp_agents.core import secret_scan as secret
from ghp_agents.core.file_names import plain
from ghp_agents.git import patch, worktree
from ghp_agents.git.patch import Patch, PatchedFile
from ghp_agents.handoffs.handoff import Missing
from ghp_agents.workspace import Workspace
from ghp_agents.worktrees.provision import unchanged_files


@dataclass(frozen=True, slots=True)
class Uncommitted:
    """What differs from the last commit."""

    patch: Patch
    missing: tuple[Missing, ...] = ()


def take_uncommitted(ws: Workspace) -> Uncommitted:
    """The uncommitted work of this worktree, but for what furnishing put there; nothing
    of it is touched. Raises GitError."""
    if ws.place.toplevel is None:
        return Uncommitted(Patch("", b""))
    kept = patch.take_patch(ws.place, ws.settings.patch_bytes, _screen, unchanged_files(ws))
    missing = [Missing(plain(one.path), one.size, one.reason) for one in kept.left_out]
    return Uncommitted(kept, (*missing, *_beyond(Path(ws.place.toplevel), kept)))


def _screen(change: PatchedFile, added: bytes) -> str | None:
    """Why a change must not be stored, which means pushed to where others read it."""
    if change.kind == "A" and secret.is_made_for_secrets(change.path):
        return "a file that usually holds secrets"
    found = secret.find(added.decode("utf-8", "replace"))
    return f"seems to hold {found}" if found else None


def _beyond(folder: Path, kept: Patch) -> list[Missing]:
    """What no patch of the files can have: what is only in the index, or inside a submodule."""
    known = {one.path for one in kept.left_out}
    found: list[Missing] = []
    for each in worktree.differences(folder):
        if each.path in known:
            continue
        if each.inside:
            found.append(Missing(plain(each.path), None, "a submodule with changes of its own"))
        elif each.code in ("AD", "MD", "TD"):
            reason = "staged, and then deleted: only the index has it"
            found.append(Missing(plain(each.path), None, reason))
    return found
