"""Which folders of the state have changed, without reading their files."""

from collections.abc import Iterable, Sequence

from ghp_agents.git.objects import Object, tree_entries
from ghp_agents.state.private_repo import StateRepository


def folders(
    repository: StateRepository | None,
    tips: Sequence[str],
    waiting: Iterable[tuple[str, str]],
    prefix: str,
) -> dict[str, str]:
    """The folders directly below `prefix`, each with a stamp: equal stamps mean equal files.

    A git tree has one id for one content, so the ids of the clones' trees are the stamp, with the
    names of the `waiting` records (name, path) that are in no tree yet.
    """
    stamps: dict[str, set[str]] = {}
    for tree in _trees(repository, tips, prefix):
        for entry in tree_entries(tree.content, len(tree.oid)):
            stamps.setdefault(f"{prefix}{entry.name}/", set()).add(entry.oid)
    for name, path in waiting:
        if path.startswith(prefix):
            folder = path[len(prefix) :].partition("/")[0]
            stamps.setdefault(f"{prefix}{folder}/", set()).add(name)
    return {folder: " ".join(sorted(marks)) for folder, marks in sorted(stamps.items())}


def _trees(repository: StateRepository | None, tips: Sequence[str], prefix: str) -> list[Object]:
    if repository is None or not tips:
        return []
    with repository.objects() as reader:
        trees = reader.read([f"{tip}:{prefix.strip('/')}" for tip in tips])
    return [tree for tree in trees if tree and tree.kind == "tree"]
