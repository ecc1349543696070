"""Reads the files of records in the trees of clones' commits."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from ghp_agents.core.fields import LARGEST
from ghp_agents.core.files import stays_below
from ghp_agents.git.objects import Object, ObjectReader, TreeEntry, tree_entries

# Other clones control their trees, so reading has limits: a few kilobytes of nested trees can stand
# for more files than fit into memory.
DEEPEST = 12  # levels of folders; records are three deep
MOST = 500_000  # files and folders of one clone below one folder
FOLDER = ".ghp"  # contains all records


class Below(NamedTuple):
    """A clone's files below a folder, and reasons for unread paths."""

    files: dict[str, bytes]
    left_out: dict[str, str]


def read_below(reader: ObjectReader, names: Sequence[str], folder: str) -> list[Below]:
    """For each object that is the tree of `folder`, the files below it.

    Walks all trees level by level through one process; shared folders and files are read once.
    """
    objects = reader.read(names)
    trees = {tree.oid: tree for tree in objects if tree and tree.kind == "tree"}
    roots = [tree.oid if tree and tree.kind == "tree" else None for tree in objects]
    listing = _listing(reader, trees)
    paths = _paths(listing, roots, folder)
    blobs = list(dict.fromkeys(oid for some in paths if some for oid in some.values()))
    contents = dict(zip(blobs, reader.read(blobs), strict=True))
    return [_below(folder, some, contents) for some in paths]


def paths_of(reader: ObjectReader, commits: Sequence[str]) -> list[dict[str, str] | None]:
    """For each commit, the paths and objects of its records; None if there are too many."""
    objects = reader.read([f"{commit}:{FOLDER}" for commit in commits])
    trees = {tree.oid: tree for tree in objects if tree and tree.kind == "tree"}
    return _paths(_listing(reader, trees), [tree.oid if tree else None for tree in objects], FOLDER)


def _below(
    folder: str, paths: Mapping[str, str] | None, contents: Mapping[str, Object | None]
) -> Below:
    if paths is None:
        return Below({}, {f"{folder}/": f"more than {MOST} files: none of them is read"})
    blobs = {path: blob for path, oid in paths.items() if (blob := contents[oid])}
    too_large = f"more than {LARGEST // 1_000_000} MB"
    left_out = {path: too_large for path, blob in blobs.items() if blob.is_cut}
    # A writer of all records, such as the published branch, would fail on such a name.
    left_out |= {path: "its name cannot be a path" for path in blobs if not stays_below(path)}
    return Below(
        {path: blob.content for path, blob in blobs.items() if path not in left_out}, left_out
    )


def _listing(reader: ObjectReader, trees: Mapping[str, Object]) -> dict[str, list[TreeEntry]]:
    """The entries of `trees` and of their subtrees, level by level."""
    listing: dict[str, list[TreeEntry]] = {}
    objects = dict(trees)
    wanted = list(trees)
    for _ in range(DEEPEST if wanted else 0):
        missing = [oid for oid in wanted if oid not in objects]
        objects |= {tree.oid: tree for tree in reader.read(missing) if tree}
        for oid in wanted:
            listing[oid] = tree_entries(objects[oid].content, len(oid)) if oid in objects else []
        inner = [entry.oid for oid in wanted for entry in listing[oid] if entry.mode == "40000"]
        wanted = [oid for oid in dict.fromkeys(inner) if oid not in listing]
    return listing


def _paths(
    listing: Mapping[str, list[TreeEntry]], roots: Sequence[str | None], folder: str
) -> list[dict[str, str] | None]:
    """The files below each tree, by path; None if there are too many."""

    @cache  # a few trees that stand for endless files and folders are counted in a moment
    def count(oid: str, levels: int) -> int:
        entries = listing.get(oid, ()) if levels else ()
        folders = sum([count(entry.oid, levels - 1) for entry in entries if entry.mode == "40000"])
        return len(entries) + folders

    return [
        {} if root is None
        else _walk(listing, root, folder) if count(root, DEEPEST) <= MOST
        else None
        for root in roots
    ]  # fmt: skip


def _walk(listing: Mapping[str, list[TreeEntry]], root: str, folder: str) -> dict[str, str]:
    paths: dict[str, str] = {}
    pending = [(folder, root, DEEPEST)]
    while pending:
        place, oid, levels = pending.pop()
        for entry in listing.get(oid, ()) if levels else ():
            path = f"{place}/{entry.name}"
            if entry.mode == "40000":
                pending.append((path, entry.oid, levels - 1))
            elif entry.mode.startswith("100"):
                paths[path] = entry.oid
    return paths
