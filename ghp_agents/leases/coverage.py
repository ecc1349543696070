"""The files in a worktree that patterns cover: tracked files, and untracked ones not ignored."""

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core import globs
from ghp_agents.core.errors import UsageError
from ghp_agents.core.glob_paths import escaped, spelled, spelled_all
from ghp_agents.core.ids import Actor
from ghp_agents.git import changed_paths
from ghp_agents.leases.hold import Hold
from ghp_agents.workspace import Workspace


class Coverage(NamedTuple):
    """The subject of a lease, and the files here that it covers."""

    patterns: tuple[str, ...]
    name: str | None
    covered: list[str]
    fold: bool

    def meets(self, patterns: Sequence[str], name: str | None) -> str | None:
        """The overlap with another lease; None if there is none."""
        if self.name is not None or name is not None:
            return self.name if self.name == name else None
        overlap = globs.overlap(self.patterns, self.covered, patterns, fold=self.fold)
        return None if overlap is None else overlap.removeprefix("/") or overlap

    def meets_other(self, hold: Hold, me: Actor, clone: str = "") -> str | None:
        """The overlap with another's lease; None if there is none, or if it is mine in `clone`."""
        if hold.is_of(me.name, me.is_person, clone):
            return None
        return self.meets(hold.patterns, hold.name)


class WorktreeFiles:
    """The files of a worktree, listed once, on first use."""

    def __init__(self, ws: Workspace) -> None:
        self._ws = ws

    @cached_property
    def files(self) -> list[str]:
        """Tracked files and untracked ones not ignored, sorted; none in a bare repository."""
        top = self._ws.place.toplevel
        return changed_paths.below(Path(top), ".") if top else []

    @cached_property
    def fold(self) -> bool:
        """Whether this file system ignores case, according to git's configuration."""
        return self._ws.git_value("core.ignorecase") == "true"

    def reach(self, patterns: tuple[str, ...], name: str | None = None) -> Coverage:
        """The coverage of these patterns, or of a named resource."""
        if name is not None:
            return Coverage((), name, [], fold=False)
        covered = globs.select(patterns, self.files, fold=self.fold)
        return Coverage(patterns, None, covered, self.fold)

    def spelled(self, words: Sequence[str], cwd: Path | None = None) -> tuple[str, ...]:
        """Patterns typed in a folder, relative to the repository's root. Raises UsageError.

        A word that is an existing path means exactly that path. A path through a link means the
        link's target, because an edit changes the target.
        """
        folder = self._folder(cwd)
        return spelled_all(self._word(word, folder) for word in words)

    def links(self, words: Sequence[str], cwd: Path | None = None) -> list[tuple[str, str | None]]:
        """The words that are paths through a link, each with the target; None for a target outside
        of this repository."""
        folder = self._folder(cwd)
        return [
            (word, inside)
            for word in words
            for is_link, inside in [self._link_target(word.removeprefix("!"), folder)]
            if is_link
        ]

    def _link_target(self, text: str, folder: str) -> tuple[bool, str | None]:
        """Whether a path goes through a link, and its target in the repository."""
        root = self._root
        if root is None or "\0" in text or not text:
            return False, None
        path = os.path.normpath(root / folder / text)
        if not os.path.lexists(path) or not Path(path).is_relative_to(root):
            return False, None
        try:
            real = os.path.realpath(path, strict=True)
        except OSError:  # no target, or a cycle of links
            return True, None
        is_inside = real != str(root) and Path(real).is_relative_to(root)
        return path != real, Path(real).relative_to(root).as_posix() if is_inside else None

    @cached_property
    def _root(self) -> Path | None:
        """The worktree's folder, without links."""
        top = self._ws.place.toplevel
        return None if top is None else Path(top).resolve()

    def _folder(self, cwd: Path | None) -> str:
        root = self._root
        if cwd is None or root is None:
            return ""
        here = cwd.resolve()
        inside = here.relative_to(root).as_posix() if here.is_relative_to(root) else "."
        return "" if inside == "." else inside

    def _word(self, word: str, folder: str) -> str:
        """One word as a pattern relative to the root."""
        top = self._ws.place.toplevel
        sign, text = ("!", word[1:]) if word.startswith("!") else ("", word)
        if top is None or "\0" in text:
            return spelled(word, folder)
        is_link, target = self._link_target(text, folder)
        if is_link and target is not None:
            return spelled(f"{sign}/{escaped(target)}{'/' * text.endswith('/')}")
        if text.startswith("/"):
            inside = _inside(text, Path(top))
            return spelled(word, folder) if inside is None else spelled(sign + inside)
        is_path = any(letter in text for letter in "*?[\\") and _exists(Path(top, folder, text))
        return spelled(f"{sign}./{escaped(text)}" if is_path else word, folder)


def _inside(text: str, top: Path) -> str | None:
    """An absolute path in the worktree as a pattern; None for a pattern that begins with `/`.

    Raises UsageError for a path outside of the worktree.
    """
    for root in (top, top.resolve()):
        if Path(text).is_relative_to(root):
            inside = Path(text).relative_to(root).as_posix()
            return "*" if inside == "." else f"/{escaped(inside)}{'/' * text.endswith('/')}"
    if _exists(Path(text)) and not _exists(Path(f"{top}{text}")):
        raise UsageError(
            f"{text[:80]!r} is outside this repository.",
            hint="A pattern that starts with / is relative to the current folder; the "
            f"repository is {top}.",
        )
    return None


def _exists(path: Path) -> bool:
    try:
        path.lstat()
    except (OSError, ValueError):
        return False
    return True
