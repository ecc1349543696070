"""Checks what a patch would do in a worktree before git applies it."""

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from ghp_agents.core.file_names import parents
from ghp_agents.git import process as git
from ghp_agents.git.merge import read_stages
from ghp_agents.git.patch_text import HINT, LINK, Piece, UnsafePatchError, is_git_folder

_HOPS = 40  # links in a chain, as in the kernel
_STEPS = 400  # path components while one link is resolved


def check(folder: Path, pieces: Collection[Piece]) -> None:
    """Raises UnsafePatchError for a rename of an untracked file, and for a link that points outside
    of the worktree `folder`."""
    links = {piece.new: piece.target for piece in pieces if piece.new and piece.target is not None}
    moved = {piece.old: piece.new for piece in pieces if piece.is_rename}
    for name, target in _tracked(folder, list(moved)).items():
        new = moved.pop(name)
        if target is not None:
            links[new] = target
    if moved:
        name = min(moved)[:200]
        raise UnsafePatchError(f"The patch renames {name!r}, which is not in git.", hint=HINT)
    # The patch may show only some lines of a link with several.
    longer = _tracked(folder, [name for name, target in links.items() if "\n" in target])
    open_ended = {name for name, target in longer.items() if target and "/" in target}
    gone = {piece.old for piece in pieces} - {piece.new for piece in pieces}
    for path in links:
        if path in open_ended or leads_out(folder, path, links, gone):
            raise UnsafePatchError(
                f"The patch creates {path[:200]!r}, a link that leads out of the worktree.",
                hint=HINT,
            )


def leads_out(
    folder: Path, path: str, links: Mapping[str, str], gone: Collection[str] = ()
) -> bool:
    """Whether the link at `path` points outside of `folder`, or into its git folder. `links` will
    be added, and the paths in `gone` removed."""
    left = path.split("/")[::-1]
    at: list[str] = []
    hops = steps = 0
    while left and hops <= _HOPS:
        part = left.pop()
        steps += 1
        if steps > _STEPS:
            return True
        if part in ("", "."):
            continue
        if part == "..":
            if not at:
                return True
            at.pop()
            continue
        if is_git_folder(part):
            return True
        at.append(part)
        target = _target(folder, "/".join(at), links, gone)
        if target is not None:
            if target.startswith("/"):
                return True
            hops += 1
            at.pop()
            left += target.split("/")[::-1]
    return False  # an endless link points nowhere


def _target(folder: Path, name: str, links: Mapping[str, str], gone: Collection[str]) -> str | None:
    """The target of the link `name`; None if it is not a link."""
    if name in links:
        return links[name]
    try:
        return None if name in gone else os.readlink(folder / name)  # noqa: PTH115
    except (OSError, ValueError):
        return None


def links_in_the_way(folder: Path, pieces: Collection[Piece]) -> list[str]:
    """Untracked links on the patch's paths; git would follow them anywhere."""
    paths = {path for piece in pieces for path in (piece.old, piece.new)}
    above = {parent for path in paths for parent in parents(path)}
    links = sorted(parent for parent in above if (folder / parent).is_symlink())
    tracked = _tracked(folder, links)
    return [link for link in links if link not in tracked]


def _tracked(folder: Path, names: list[str]) -> dict[str, str | None]:
    """Those of `names` that are tracked files; for a link, its target."""
    if not names:
        return {}
    targets: dict[str, str | None] = {}
    wanted = set(names)
    for stage in read_stages(git.check(["ls-files", "-z", "--stage"], cwd=folder).names):
        if stage.path in wanted and stage.mode != "160000":
            targets[stage.path] = _link(folder, stage.oid) if stage.mode == LINK else None
    return targets


def _link(folder: Path, oid: str) -> str:
    return os.fsdecode(git.check(["cat-file", "blob", oid], cwd=folder).out)
