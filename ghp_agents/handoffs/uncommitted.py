"""Uncommitted work for a handoff: what is stored, and what cannot be."""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core import secret_scan
from ghp_agents.core.file_names import plain
from ghp_agents.git import patch, worktree
from ghp_agents.git.index_copy import LeftOut
from ghp_agents.git.patch import Patch, PatchedFile
from ghp_agents.git.worktree import Difference
from ghp_agents.handoffs.handoff import Missing
from ghp_agents.handoffs.shared_worktree import sharing
from ghp_agents.workspace import Workspace
from ghp_agents.worktrees import leftovers, provisioned_files
from ghp_agents.worktrees.leftovers import Tree
from ghp_agents.worktrees.provisioned_files import unchanged_files

_OTHERS = "another agent of this worktree edits it"
_UNKNOWN = "it is not known to be the agent's"
_UNSEEN = "in the folder of a submodule that is not checked out"


class Uncommitted(NamedTuple):
    """The differences from the last commit."""

    patch: Patch
    missing: tuple[Missing, ...] = ()
    shared: str = ""  # what others of this worktree edit, in one line
    unknown: tuple[str, ...] = ()  # paths that are not known to be the agent's, and left out

    @property
    def lost_if_removed(self) -> tuple[Missing, ...]:
        """What a removal of the worktree would not keep either."""
        return tuple(item for item in self.missing if item.reason != _UNSEEN)


def take_uncommitted(
    ws: Workspace, agent: str | None = None, is_known: Callable[[str], bool] = lambda _: True
) -> Uncommitted:
    """Read the uncommitted work of this worktree, except provisioned files; change nothing. For
    an `agent`, what another living agent of the worktree edits is left out, and what `is_known`
    does not know as the agent's. Raises GitError."""
    if ws.place.toplevel is None:
        return Uncommitted(Patch("", b""))
    with_whom = sharing(ws, agent)
    foreign: set[str] = set()
    unknown: list[str] = []

    def why_not(change: PatchedFile, added: bytes) -> str | None:
        if not is_known(change.path):
            unknown.append(change.path)
            return _UNKNOWN
        return _OTHERS if is_foreign(change.path, change.source) else _why_unsafe(change, added)

    def is_foreign(*paths: str) -> bool:
        others = {path for path in paths if with_whom.is_others(path)}
        foreign.update(others)
        return bool(others)

    folder = Path(ws.place.toplevel)
    differences = worktree.differences(folder)
    if differences:
        kept = patch.take_patch(
            ws.place, ws.settings.patch_bytes, why_not, unchanged_files(ws),
            has_new=any(difference.code == "??" for difference in differences),
        )  # fmt: skip
    else:
        kept = Patch(worktree.head(folder), b"")
    lost = [*kept.left_out, *_not_in_patch(differences, kept)]
    lost += _unseen(ws, folder, {item.path for item in lost})
    unknown += [item.path for item in lost if not is_known(item.path)]
    missing = [item for item in lost if item.path not in unknown and not is_foreign(item.path)]
    named = [path for change in kept.changes for path in (change.path, change.source) if path]
    return Uncommitted(
        kept,
        tuple(Missing(plain(item.path), item.size, item.reason) for item in missing),
        with_whom.describe(foreign, named) if with_whom.others else "",
        tuple(sorted({*unknown})),
    )


def _why_unsafe(change: PatchedFile, added: bytes) -> str | None:
    """Return why a change must not be stored: stored work is pushed, and others can read it."""
    if change.kind == "A" and secret_scan.is_made_for_secrets(change.path):
        return "a file that usually holds secrets"
    secret = secret_scan.find(change.path)
    if secret:
        return f"its name seems to hold {secret}"
    secret = secret_scan.find(added.decode("utf-8", "replace"))
    return f"seems to hold {secret}" if secret else None


def _not_in_patch(differences: Sequence[Difference], kept: Patch) -> list[LeftOut]:
    """List what a patch of the files cannot contain: index-only changes, and submodules'."""
    covered = {item.path for item in kept.left_out}
    left_out: list[LeftOut] = []
    for difference in differences:
        if difference.path in covered:
            continue
        if difference.inside:
            left_out.append(LeftOut(difference.path, None, "a submodule with changes of its own"))
        elif difference.code in ("AD", "MD", "TD"):
            reason = "staged, and then deleted: only the index has it"
            left_out.append(LeftOut(difference.path, None, reason))
    return left_out


def _unseen(ws: Workspace, folder: Path, covered: Collection[str]) -> list[LeftOut]:
    """List what is in the folders of submodules that are not checked out: git never shows it."""
    rules = provisioned_files.rules(ws, ws.git_dir)
    if rules.home == folder:
        rules = rules._replace(home=None)
    paths = leftovers.in_gitlinks(Tree(folder, ws.git_dir), rules)
    return [LeftOut(path, None, _UNSEEN) for path in paths if path not in covered]
