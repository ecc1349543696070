"""What patterns cover in a worktree: its tracked files and those that could be."""

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core import globs
from ghp_agents.core.errors import UsageError
from ghp_agents.core.glob_paths import escaped, spelled, spelled_all
from ghp_agents.core.ids import Actor
from ghp_agents.git import process as git
from ghp_agents.git import worktree
from ghp_agents.leases.hold import Hold
from ghp_agents.workspace import Workspace


class Coverage(NamedTuple):
    """What a lease is of, and the files here that it covers."""

    patterns: tuple[str, ...]
    name: str | None
    covered: list[str]
    fold: bool

    def meets(self, patterns: Sequence[str], name: str | None) -> str | None:
        """What it has in common with another lease; None if nothing."""
        if self.name is not None or name is not None:
            return self.name if self.name == name else None
        found = globs.overlap(self.patterns, self.covered, patterns, fold=self.fold)
        return None if found is None else found.removeprefix("/") or found

    def meets_other(self, hold: Hold, me: Actor, clone: str = "") -> str | None:
        """What it has in common with another's lease; None if nothing, or if it is mine in
        `clone`."""
        if hold.is_of(me.name, me.is_person, clone):
            return None
        return self.meets(hold.patterns, hold.name)


class WorktreeFiles:
    """The files of a worktree, looked at once, when first needed."""

    def __init__(self, ws: Workspace) -> None:
        self._ws = ws

    @cached_property
    def files(self) -> list[str]:
        """Tracked files, and others that git does not ignore, sorted; none in a bare repository."""
        top = self._ws.place.toplevel
        return worktree.files(Path(top)) if top else []

    @cached_property
    def fold(self) -> bool:
        """Whether upper and lower case are one on this file system, as git found out."""
        return git.config(self._ws.folder, "core.ignoreCase") == "true"

    def reach(self, patterns: tuple[str, ...], name: str | None = None) -> Coverage:
        """A lease of these patterns, or of a named resource."""
        if name is not None:
            return Coverage((), name, [], fold=False)
        covered = globs.select(patterns, self.files, fold=self.fold)
        return Coverage(patterns, None, covered, self.fold)

    def spelled(self, words: Sequence[str], cwd: Path | None = None) -> tuple[str, ...]:
        """Patterns as somebody says them in a folder, as they count from the root.

        A word that is the path of something here means just that, and one that leads through a
        link what it leads to, which is what an edit changes. Raises UsageError.
        """
        folder = self._folder(cwd)
        return spelled_all(self._word(word, folder) for word in words)

    def links(self, words: Sequence[str], cwd: Path | None = None) -> list[tuple[str, str | None]]:
        """The words that lead through a link, with the path that they lead to; None for one that
        is not in this repository."""
        folder = self._folder(cwd)
        return [
            (word, inside)
            for word in words
            for is_link, inside in [self._led(word.removeprefix("!"), folder)]
            if is_link
        ]

    def _led(self, text: str, folder: str) -> tuple[bool, str | None]:
        """Whether a path leads through a link, and to where in the repository."""
        top = self._ws.place.toplevel
        if top is None or "\0" in text or not text:
            return False, None
        root = Path(top).resolve()
        try:
            path = Path(os.path.normpath(root / folder / text))
            real = path.resolve()
            is_link = path != real and _is_in(path, root) and _is_there(path)
        except (OSError, RuntimeError):  # links that lead in a circle
            return True, None
        inside = real.relative_to(root).as_posix() if _is_in(real, root) and real != root else None
        return is_link, inside if _is_there(real) else None

    def _folder(self, cwd: Path | None) -> str:
        top = self._ws.place.toplevel
        if cwd is None or top is None:
            return ""
        here, root = cwd.resolve(), Path(top).resolve()
        inside = here.relative_to(root).as_posix() if _is_in(here, root) else "."
        return "" if inside == "." else inside

    def _word(self, word: str, folder: str) -> str:
        """One word as a pattern from the root."""
        top = self._ws.place.toplevel
        sign, text = ("!", word[1:]) if word.startswith("!") else ("", word)
        if top is None or "\0" in text:
            return spelled(word, folder)
        is_link, led = self._led(text, folder)
        if is_link and led is not None:
            return spelled(f"{sign}/{escaped(led)}{'/' * text.endswith('/')}")
        if text.startswith("/"):
            inside = _inside(text, Path(top))
            return spelled(word, folder) if inside is None else spelled(sign + inside)
        is_path = any(letter in text for letter in "*?[\\") and _is_there(Path(top, folder, text))
        return spelled(f"{sign}./{escaped(text)}" if is_path else word, folder)


def _inside(text: str, top: Path) -> str | None:
    """An absolute path in the worktree as a pattern; None for one that only begins with `/`.

    Raises UsageError for a path that leads out of it.
    """
    for root in (top, top.resolve()):
        if _is_in(Path(text), root):
            inside = Path(text).relative_to(root).as_posix()
            return "*" if inside == "." else f"/{escaped(inside)}{'/' * text.endswith('/')}"
    if _is_there(Path(text)) and not _is_there(Path(f"{top}{text}")):
        raise UsageError(
            f"{text[:80]!r} is outside of this repository.",
            hint="A pattern that begins with / counts from the current folder; the repository is "
            f"{top}.",
        )
    return None


def _is_in(path: Path, folder: Path) -> bool:
    return path.is_relative_to(folder)


def _is_there(path: Path) -> bool:
    try:
        path.lstat()
    except (OSError, ValueError):
        return False
    return True
