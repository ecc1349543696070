"""The files in which this clone notes when it first saw something; it counts from then on."""

from pathlib import Path

CLAIMS, LAPSES, DOUBTS, SIGHTINGS = FILES = (
    "claims.json", "lapses.json", "doubts.json", "sightings.json",
)  # fmt: skip


def forget(cache: Path) -> None:
    """Start again, as a copied clone must: these things were observed by its original. Raises
    OSError."""
    for name in FILES:
        (cache / name).unlink(missing_ok=True)
