"""Indexes of other embedders, next to the one in use: none may keep forgotten notes.

They belong to an earlier version, or to another environment of this clone that still uses its own.
Only its embedder can update an index. So each lists the notes it may hold, and one that holds a
deleted note is removed. If it is still in use, it is built again.
"""

import shutil
from collections.abc import Set
from pathlib import Path

from ghp_agents.core import files
from ghp_agents.core.ids import digest
from ghp_agents.notes.search.mem0_config import STORE

HELD = ".held"  # suffix of the file that lists the notes of a scope that an index may hold


def forget_elsewhere(place: Path, scope: str, notes: Set[str]) -> None:
    """Record that the index in `place` may hold these ids of `scope`. Remove other indexes that
    hold more, or do not list what they hold. The caller holds the lock of all indexes."""
    name, held = digest(scope) + HELD, {note.encode() for note in notes}
    files.write_atomically(place / name, b"\n".join(sorted(held)))
    for other in {store.parent for store in place.parent.glob(f"*/{STORE}")} - {place}:
        indexed = {path.name: path.read_bytes().split() for path in other.glob(f"*{HELD}")}
        if not indexed or not held.issuperset(indexed.get(name, ())):
            shutil.rmtree(other)
