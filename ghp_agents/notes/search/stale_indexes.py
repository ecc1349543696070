"""Indexes of other embedders, which lie beside the one in use: none keeps what was forgotten.

They are of an earlier version, or of another environment of this clone that still uses its own.
Only an embedder can bring its index up to date, so each says which notes it may hold, and one that
holds what is no note any more is removed. Who still uses it makes it again.
"""

import shutil
from collections.abc import Set
from pathlib import Path

from ghp_agents.core import files
from ghp_agents.core.ids import digest
from ghp_agents.notes.search.mem0_config import STORE

HELD = ".held"  # ends the name of the file that says which notes of a scope an index may hold


def forget_elsewhere(place: Path, scope: str, notes: Set[str]) -> None:
    """Say that the index in `place` may hold these ids of `scope`, and remove those beside it that
    hold others, or do not say what they hold. The caller has the lock of them all."""
    name, held = digest(scope) + HELD, {note.encode() for note in notes}
    files.write_atomically(place / name, b"\n".join(sorted(held)))
    for other in {store.parent for store in place.parent.glob(f"*/{STORE}")} - {place}:
        told = {path.name: path.read_bytes().split() for path in other.glob(f"*{HELD}")}
        if not told or not held.issuperset(told.get(name, ())):
            shutil.rmtree(other)
