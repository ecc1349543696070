"""Notes found by their words alone; needs nothing beyond the core, and keeps no index."""

from collections.abc import Collection, Sequence

from ghp_agents.core.finding import Finding
from ghp_agents.notes.note import Note
from ghp_agents.notes.search import bm25 as textrank
from ghp_agents.notes.search.result import Hit, IndexUpdate


class TextBase:
    """`ports.KnowledgeBase` by plain text search."""

    def __init__(self, shortcomings: Sequence[Finding] = ()) -> None:
        self._shortcomings = tuple(shortcomings)

    def bring(self, notes: Sequence[Note]) -> IndexUpdate:
        """Nothing to do: all is looked at in each search."""
        return IndexUpdate(len(notes))

    def search(
        self, query: str, notes: Sequence[Note], limit: int, among: Collection[str] | None = None
    ) -> list[Hit]:
        """The notes that share words with the query; rare words count more."""
        found = textrank.rank(query, {note.id: note.text for note in notes}).items()
        hits = [Hit(note, score) for note, score in found if among is None or note in among]
        return best(hits, limit)

    def distil(self, text: str) -> list[str]:
        """The text itself."""
        return [text]

    def shortcomings(self) -> Sequence[Finding]:
        """Why there is nothing better."""
        return self._shortcomings


def best(hits: Collection[Hit], limit: int) -> list[Hit]:
    """The best first; of equal ones always the same first."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.note))[:limit]
