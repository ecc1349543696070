"""Read the repository's templates from the commit of main.

The sources of a page are published with it. So they are read from main's commit, which its
maintainers control: no link is followed, and no file of a worktree is read.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from ghp_agents.core.file_names import plain
from ghp_agents.core.templates import OVERRIDES, Own, TemplateError
from ghp_agents.git import clone_files
from ghp_agents.git import process as git
from ghp_agents.git.refs import UnreadableRefsError
from ghp_agents.settings import consent
from ghp_agents.state.known_branches import main_commit
from ghp_agents.workspace import Workspace

if TYPE_CHECKING:
    from ghp_agents.core.finding import Finding

CODE = "templates"
_FOLDER = "040000"
LARGEST = 100_000  # bytes; a page has some thousands


class TreeFile(NamedTuple):
    """An entry in the tree of main's commit."""

    path: str
    oid: str
    size: int  # 0 if it has none
    mode: str

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file: not a link, folder or submodule."""
        return self.mode.startswith("100")


def templates(ws: Workspace) -> Own:
    """The repository's own templates by name, as far as a person consented to them here."""
    return lambda name: _agreed(ws, f"{OVERRIDES}/{name}")


def _agreed(ws: Workspace, path: str) -> str | None:
    content = text(ws, path)
    if content is None:
        return None  # as nearly everywhere: what reads consent is not even loaded
    from ghp_agents.consent import service

    return content if service.covers(ws, main_commit(ws), path, content) else None


def text(ws: Workspace, *paths: str) -> str | None:
    """The text of the first of `paths` that is a file on main; None if none is.

    Raises TemplateError if it is not UTF-8 text, or too long for a page.
    """
    existing = {entry.path: entry for entry in entries(ws, *paths) if entry.is_file}
    chosen = next((existing[path] for path in paths if path in existing), None)
    if chosen is None:
        return None
    if chosen.size > LARGEST:
        raise _unusable(chosen.path, f"has more than {LARGEST} bytes")
    content = git.check(["cat-file", "blob", chosen.oid], cwd=ws.folder).out
    try:
        return content.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise _unusable(chosen.path, f"is not UTF-8 text (byte {error.start})") from None


def entries(ws: Workspace, *paths: str) -> list[TreeFile]:
    """The `paths` that exist on main; a path that ends with `/` means all entries in it."""
    commit = main_commit(ws)
    if not commit:
        return []
    with suppress(UnreadableRefsError):
        if clone_files.lacks(ws.folder, commit, *(path.rstrip("/") for path in paths)):
            return []
    args = ["ls-tree", "-z", "--long", "--full-tree", commit, "--", *paths]
    shown = git.check(args, cwd=ws.folder).out.decode("utf-8", "surrogateescape")
    return [_entry(line) for line in shown.split("\0") if line]


def check(ws: Workspace, pages: Sequence[str]) -> "Iterator[Finding]":
    """Report templates that are not used; `pages` are other files that are templates, too."""
    from ghp_agents.core import finding

    own = entries(ws, OVERRIDES, f"{OVERRIDES}/", *pages)
    for entry in own:
        if not entry.is_file and entry.mode != _FOLDER:
            yield finding.warning(
                CODE,
                f"{plain(entry.path)} on main is a link or a submodule, so it is not used.",
                "Replace it with the file itself; until then, the built-in template is used.",
            )
        elif entry.path.startswith(f"{OVERRIDES}/") and not _is_used(ws, entry.path):
            yield finding.warning(
                CODE,
                f"{plain(entry.path)} on main is not used: nobody has approved it in this clone.",
                consent.HINT,
            )
    existing = {entry.path for entry in own}
    for path in sorted((ws.root / OVERRIDES).glob("*.j2")):
        name = f"{OVERRIDES}/{path.name}"
        if name not in existing:
            yield finding.info(CODE, f"{plain(name)} takes effect once it is on main.")


def _is_used(ws: Workspace, path: str) -> bool:
    try:
        return _agreed(ws, path) is not None
    except TemplateError:
        return True  # its use reports the error


def _entry(line: str) -> TreeFile:
    facts, _, path = line.partition("\t")
    mode, _, oid, size = facts.split()
    return TreeFile(path, oid, 0 if size == "-" else int(size), mode)


def _unusable(path: str, why: str) -> TemplateError:
    return TemplateError(
        f"{path} on main {why}.", hint="Fix it on main, or remove it to use the built-in template."
    )
