"""Files of the repository as the trunk's commit has them.

What a page is made of is published with it. So it is read from the commit, in which whoever looks
after the trunk put it: no link is followed, and no file that only lies in a worktree is read.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ghp_agents import branches, checkouts, git
from ghp_agents.errors import GhpError
from ghp_agents.model import pull_body
from ghp_agents.services.trunk import trunk
from ghp_agents.templates import OVERRIDES, Own, TemplateError
from ghp_agents.workspace import Workspace

LARGEST = 100_000  # bytes; a page is some thousands


class Entry(NamedTuple):
    """A name in the trunk's commit."""

    path: str
    oid: str
    size: int  # 0 for what is no file
    is_file: bool  # and no link, folder or submodule


def templates(ws: Workspace) -> Own:
    """The repository's own templates, by their names."""
    return lambda name: text(ws, f"{OVERRIDES}/{name}")


def text(ws: Workspace, *paths: str) -> str | None:
    """The text of the first of `paths` that is a file on the trunk; None if none is.

    Raises TemplateError for what is no text, or far too long for a page.
    """
    there = {entry.path: entry for entry in entries(ws, *paths) if entry.is_file}
    chosen = next((there[path] for path in paths if path in there), None)
    if chosen is None:
        return None
    if chosen.size > LARGEST:
        raise _unusable(chosen.path, f"has more than {LARGEST} bytes")
    content = git.check(["cat-file", "blob", chosen.oid], cwd=ws.folder).out
    try:
        return content.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise _unusable(chosen.path, f"is not UTF-8 text (byte {error.start})") from None


def entries(ws: Workspace, *paths: str) -> list[Entry]:
    """Those of `paths` that the trunk has; with `/` at its end, a path is all that is in it."""
    commit = _commit(ws)
    if not commit:
        return []
    args = ["ls-tree", "-z", "--long", "--full-tree", commit, "--", *paths]
    shown = git.check(args, cwd=ws.folder).out.decode("utf-8", "surrogateescape")
    return [_entry(line) for line in shown.split("\0") if line]


def not_read(ws: Workspace) -> list[str]:
    """Paths on the trunk that are templates by their name, and are no files."""
    found = entries(ws, f"{OVERRIDES}/", *pull_body.TEMPLATES)
    return [entry.path for entry in found if not entry.is_file]


def _entry(line: str) -> Entry:
    facts, _, path = line.partition("\t")
    mode, _, oid, size = facts.split()
    return Entry(path, oid, 0 if size == "-" else int(size), mode.startswith("100"))


def _commit(ws: Workspace) -> str:
    """The trunk's commit, as it was last seen; empty where there is none."""
    name = trunk(ws)
    if not name:
        return ""
    return branches.known_tip(ws, name) or checkouts.tip(ws.folder, branches.HEADS + name)


def _unusable(path: str, why: str) -> TemplateError:
    return TemplateError(
        f"{path} on the trunk {why}.", hint="Correct it there; removed, ours is used."
    )
