"""Which files of the main worktree are copied into a new one: patterns as in `.gitignore`.

They are in `worktreeCopyFiles`, and in `.worktreeinclude`, which other tools read, too. Git matches
them, so no committed file is ever copied.
"""

import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ghp_agents.consent import service as trust
from ghp_agents.core import globs
from ghp_agents.core.errors import GhpError
from ghp_agents.core.file_names import parents
from ghp_agents.git import process as git
from ghp_agents.hotpath.quoting import phrase
from ghp_agents.settings.consent import HINT, INCLUDE
from ghp_agents.settings.settings import Settings
from ghp_agents.workspace import Workspace
from ghp_agents.worktrees.leftovers import is_disposable

SETTING = "worktreeCopyFiles"
TIMEOUT_S = 600.0  # seconds; a large worktree takes time
LONGEST = 64_000  # characters of `.worktreeinclude`


class Selected(NamedTuple):
    """The files to copy, relative to the worktree, and what a person should know."""

    paths: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def select(ws: Workspace, source: Path) -> Selected:
    """Select the files of the worktree `source`. Raises GitError."""
    patterns, notes = _of_setting(ws)
    own = _matches(source, patterns, ws.settings.disposable)
    if ws.settings.worktree_copy_files != Settings().worktree_copy_files:
        notes += _unused(patterns, own, SETTING)
    included, more = _of_file(ws, source)
    theirs = _ignored(source, _matches(source, included, ws.settings.disposable))
    notes += more + _unused(included, theirs, INCLUDE)
    return Selected(tuple(sorted({*own, *theirs})), tuple(notes))


def _of_setting(ws: Workspace) -> tuple[list[str], list[str]]:
    patterns: list[str] = []
    notes: list[str] = []
    for name in ws.settings.worktree_copy_files:
        parts = Path(name).parts
        if ".." in parts or ".git" in parts or not parts:
            notes.append(f"Skipped {name!r}: it is not a path inside the repository.")
        else:
            patterns.append(name.removeprefix("./"))
    return patterns, notes


def _of_file(ws: Workspace, source: Path) -> tuple[list[str], list[str]]:
    """The patterns of `.worktreeinclude` on main, if a person agreed to it."""
    text, is_agreed, place = trust.file_on_main(ws, INCLUDE)
    if not text:
        is_local = (source / INCLUDE).is_file()
        return [], [
            f"`{INCLUDE}` is not on main, so it is not used: commit it."
        ] if is_local else []
    if not is_agreed:
        return [], [
            f"`{INCLUDE}` on {place} names files to copy into new worktrees, but nobody has "
            f"approved it in this clone; until then it is not used. {HINT}"
        ]
    lines = [line.rstrip() for line in text[:LONGEST].splitlines()]
    return [line for line in lines if line and not line.startswith("#")], []


def _matches(source: Path, patterns: Sequence[str], disposable: Sequence[str]) -> list[str]:
    """The untracked files, ignored or not, that patterns match. Those in folders such as
    `node_modules` count only if a pattern names that folder."""
    if not patterns:
        return []
    with tempfile.NamedTemporaryFile(prefix="ghp-") as file:
        file.write(os.fsencode("".join(f"{pattern}\n" for pattern in patterns)))
        file.flush()
        args = ["ls-files", "-z", "--others", "--ignored", f"--exclude-from={file.name}"]
        names = git.check(args, cwd=source, timeout=TIMEOUT_S).names
    unnamed = [pattern for pattern in disposable if not any(
        pattern.strip("/*") in chosen for chosen in patterns)]  # fmt: skip
    return [
        name
        for name in names
        if not name.endswith("/")
        and not any(is_disposable(f"{folder}/", unnamed) for folder in parents(name))
    ]


def _ignored(source: Path, names: Sequence[str]) -> list[str]:
    """Those that git ignores."""
    if not names:
        return []
    listed = b"\0".join(os.fsencode(name) for name in names)
    done = git.run(["check-ignore", "-z", "--stdin"], cwd=source, stdin=listed)
    return done.names


def _unused(patterns: Sequence[str], names: Sequence[str], where: str) -> list[str]:
    """What to say of patterns that match nothing."""
    unused: list[str] = []
    for pattern in patterns:
        with suppress(GhpError):
            if not pattern.startswith("!") and not globs.select([pattern], sorted(names)):
                unused.append(phrase(pattern))
    shown = ", ".join(unused)
    return [f"`{where}`: no file that git does not have matches {shown}."] if unused else []
