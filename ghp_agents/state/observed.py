"""The files in which this clone notes when it first saw something; it counts from then on."""

from pathlib import Path

CLAIMS, LAPSES, DOUBTS, SIGHTINGS = FILES = (
    "claims.json", "lapses.json", "doubts.json", "sightings.json",
)  # fmt: skip


def forget(cache: Path) -> None:
    """Begin to observe anew, as a copied clone must: its original saw these things, not itself.
    Raises OSError."""
    for name in FILES:
        (cache / name).unlink(missing_ok=True)
