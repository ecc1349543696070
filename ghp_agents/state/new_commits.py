"""New commits on a ref of the private repository: objects first, then one compare-and-swap.

No git process is needed. Until the ref moves, nothing points at the objects, so a killed process
leaves no half of them.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core import files
from ghp_agents.core.errors import StateMovedError
from ghp_agents.core.ids import Actor, one_line
from ghp_agents.git import loose
from ghp_agents.git import process as git
from ghp_agents.git.objects import ObjectReader, TreeEntry, tree_entries
from ghp_agents.state.private_repo import COMMITTER, StateRepository


class NewCommit(NamedTuple):
    """A commit to create."""

    message: str
    files: Mapping[str, bytes]
    author: Actor | None
    said_at: float  # seconds; when the author wrote it
    merges: tuple[str, ...] = ()  # additional parents
    kept: tuple[tuple[str, str], ...] = ()  # files that exist as objects: path, oid
    left_out: tuple[str, ...] = ()  # files that this commit's tree no longer has


def add_commits(
    repository: StateRepository,
    ref: str,
    head: str | None,
    commits: Sequence[NewCommit],
    now: float,
    *,
    keep_open: Sequence[int] = (),
) -> str:
    """Put `commits` on top of `head`, if `ref` still is there. Returns the last one.

    Raises StateMovedError if it is not, GitError if it fails for another reason.
    """
    try:
        last = write_commits(repository, head, commits, now)
    except OSError as error:
        raise damaged(error.strerror or str(error)) from None
    if not repository.point(ref, last, head, keep_open):
        raise StateMovedError
    return last


def write_commits(
    repository: StateRepository, head: str | None, commits: Sequence[NewCommit], now: float
) -> str:
    """Write `commits` on top of `head`; no ref points at them yet. Returns the last one. Raises
    GitError, OSError."""
    for path in [path for commit in commits for path in (*commit.files, *dict(commit.kept))]:
        files.below(_NOWHERE, path)
    with repository.objects() as reader:
        writer = _Writer(reader, repository.new_objects())
        parents = [oid for oid in (head, *(oid for x in commits for oid in x.merges)) if oid]
        for oid, parent in zip(parents, reader.read(parents), strict=True):
            if parent is None or parent.kind != "commit":
                raise damaged(f"the commit {oid} is missing")
        last = head
        for commit in commits:
            last = writer.add(commit, last, int(now))
        writer.new.flush()
    return last or ""


def damaged(why: str) -> git.GitError:
    """The error for objects that cannot be written."""
    result = git.Result(1, b"", f"fatal: {why}")
    return git.failure(["write of the state"], result)


class _Writer:
    """Makes the objects of commits, one on top of the other."""

    def __init__(self, reader: ObjectReader, new: loose.NewObjects) -> None:
        self._reader = reader
        self.new = new
        self._tree_of: dict[str, str] = {}  # of the commits made here

    def add(self, commit: NewCommit, head: str | None, now: int) -> str:
        """Add one commit on top of `head`; returns its id."""
        if commit.said_at < 0:
            raise damaged("its time is before 1970, which git cannot store")
        blobs = dict.fromkeys(commit.left_out, "") | dict(commit.kept)
        blobs |= {path: self.new.add("blob", content) for path, content in commit.files.items()}
        start = self._tree_of.get(head or "") or (f"{head}:" if head else None)
        tree = self._tree(start, [(path.split("/"), oid) for path, oid in blobs.items()])
        author = f"{_ident(commit.author)} {int(commit.said_at)}" if commit.author else ""
        committer = f"{COMMITTER} {now} +0000"
        text = loose.commit(
            tree,
            [*([head] if head else []), *commit.merges],
            f"{author} +0000" if author else committer,
            committer,
            commit.message,
        )
        created = self.new.add("commit", text)
        self._tree_of[created] = tree
        return created

    def _tree(self, name: str | None, blobs: Sequence[tuple[Sequence[str], str]]) -> str:
        """The tree `name` with these blobs, each at a path in parts; without those that are empty,
        and without folders that become empty."""
        entries = self._entries(name)
        below: dict[str, list[tuple[Sequence[str], str]]] = {}
        for (first, *rest), oid in blobs:
            if rest:
                below.setdefault(first, []).append((rest, oid))
            elif oid:
                entries[first] = TreeEntry("100644", first, oid)
            else:
                entries.pop(first, None)
        for folder, some in below.items():
            before = entries.get(folder)
            is_folder = before is not None and before.mode == "40000"
            oid = self._tree(before.oid if before and is_folder else None, some)
            entries[folder] = TreeEntry("40000", folder, oid)
            if self.new.content(oid) == b"":
                del entries[folder]
        return self.new.add("tree", loose.tree(entries))

    def _entries(self, name: str | None) -> dict[str, TreeEntry]:
        if name is None:
            return {}
        content = self.new.content(name)
        if content is None:
            (tree,) = self._reader.read([name])
            if tree is None or tree.kind != "tree":
                raise damaged(f"the tree {name} is missing")
            content, name = tree.content, tree.oid
        return {entry.name: entry for entry in tree_entries(content, len(name))}


def _ident(actor: Actor) -> str:
    name = one_line(actor.name.translate({ord("<"): None, ord(">"): None}), 80) or "unknown"
    address = "".join(char if char.isascii() and char.isalnum() else "-" for char in name)
    return f"{name} <{address}@{'people' if actor.is_person else 'agents'}.invalid>"


_NOWHERE = Path("/")
