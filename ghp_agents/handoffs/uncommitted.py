"""Uncommitted work for a handoff: what is stored, and what cannot be."""

from dataclasses import dataclass
from pathlib import Path

from ghp_agents.core import secret_scan
from ghp_agents.core.file_names import plain
from ghp_agents.git import patch, worktree
from ghp_agents.git.patch import Patch, PatchedFile
from ghp_agents.handoffs.handoff import Missing
from ghp_agents.workspace import Workspace
from ghp_agents.worktrees.provision import unchanged_files


@dataclass(frozen=True, slots=True)
class Uncommitted:
    """The differences from the last commit."""

    patch: Patch
    missing: tuple[Missing, ...] = ()


def take_uncommitted(ws: Workspace) -> Uncommitted:
    """Read the uncommitted work of this worktree, except provisioned files; change nothing. Raises
    GitError."""
    if ws.place.toplevel is None:
        return Uncommitted(Patch("", b""))
    kept = patch.take_patch(ws.place, ws.settings.patch_bytes, _why_unsafe, unchanged_files(ws))
    missing = [Missing(plain(item.path), item.size, item.reason) for item in kept.left_out]
    return Uncommitted(kept, (*missing, *_not_in_patch(Path(ws.place.toplevel), kept)))


def _why_unsafe(change: PatchedFile, added: bytes) -> str | None:
    """Return why a change must not be stored: stored work is pushed, and others can read it."""
    if change.kind == "A" and secret_scan.is_made_for_secrets(change.path):
        return "a file that usually holds secrets"
    found = secret_scan.find(added.decode("utf-8", "replace"))
    return f"seems to hold {found}" if found else None


def _not_in_patch(folder: Path, kept: Patch) -> list[Missing]:
    """List what a patch of the files cannot contain: index-only changes, and submodules'."""
    known = {item.path for item in kept.left_out}
    found: list[Missing] = []
    for difference in worktree.differences(folder):
        if difference.path in known:
            continue
        if difference.inside:
            found.append(
                Missing(plain(difference.path), None, "a submodule with changes of its own")
            )
        elif difference.code in ("AD", "MD", "TD"):
            reason = "staged, and then deleted: only the index has it"
            found.append(Missing(plain(difference.path), None, reason))
    return found
