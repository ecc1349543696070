"""Applies a patch of uncommitted work as a whole, or not at all."""

from pathlib import Path

from ghp_agents.git import patch_check, patch_text, worktree
from ghp_agents.git import process as git
from ghp_agents.git.index_copy import TIMEOUT_S


class PatchFailedError(git.GitError):
    """The patch cannot be applied here; nothing was changed."""


def is_applied(folder: Path, content: bytes) -> bool:
    """Whether all changes of the patch are already there. Raises UnsafePatchError."""
    patch_text.read_patch(content)
    result = _apply(folder, content, "--reverse", "--check")
    # Git only warns of a different mode.
    return result.code == 0 and " has type " not in result.err


def apply(folder: Path, content: bytes, *, three_way: bool) -> list[str]:
    """Apply the whole patch or nothing; returns the paths with conflicts.

    On the patch's own base commit only files change. With `three_way`, on another commit, git
    merges: the result is staged. Conflicts get markers and stay unmerged in the index. Raises
    PatchFailedError, or UnsafePatchError for a patch that `take_patch` could not have made. Then
    nothing was changed.
    """
    pieces = patch_text.read_patch(content)
    patch_check.check(folder, pieces)
    links = patch_check.links_in_the_way(folder, pieces)
    if links:
        raise PatchFailedError(
            f"it would write through {', '.join(links)}: a link that is not in git",
            hint="Nothing was changed.",
        )
    if three_way:
        git.run(["update-index", "-q", "--refresh"], cwd=folder, timeout=TIMEOUT_S)
    result = _apply(folder, content, *(["--3way"] if three_way else []))
    conflicts = list(worktree.unmerged(folder)) if three_way else []
    if result.code != 0 and not conflicts:
        raise PatchFailedError(
            "; ".join(result.errors[:5]) or "git refused the patch",
            hint="Nothing was changed.",
            stderr=result.err,
        )
    return conflicts


def _apply(folder: Path, content: bytes, *options: str) -> git.Result:
    flags = ("-c", "apply.ignoreWhitespace=no", "-c", "core.safecrlf=false")
    return git.run(
        [*flags, "apply", "--whitespace=nowarn", *options, "-"],
        cwd=folder,
        stdin=content,
        timeout=TIMEOUT_S,
    )
