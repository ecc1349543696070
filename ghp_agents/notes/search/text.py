"""Find notes by their words alone; needs no extra and no index."""

from collections.abc import Collection, Sequence

from ghp_agents.core.finding import Finding
from ghp_agents.notes.note import Note
from ghp_agents.notes.search import bm25
from ghp_agents.notes.search.result import Hit, IndexUpdate


class TextBase:
    """`ports.KnowledgeBase` by plain text search."""

    def __init__(self, shortcomings: Sequence[Finding] = ()) -> None:
        self._shortcomings = tuple(shortcomings)

    def index(self, notes: Sequence[Note]) -> IndexUpdate:
        """Do nothing: each search reads all notes."""
        return IndexUpdate(len(notes))

    def search(
        self, query: str, notes: Sequence[Note], limit: int, among: Collection[str] | None = None
    ) -> list[Hit]:
        """Return the notes that share words with the query; rare words count more."""
        scores = bm25.rank(query, {note.id: note.text for note in notes}).items()
        hits = [Hit(note, score) for note, score in scores if among is None or note in among]
        return best(hits, limit)

    def extract_facts(self, text: str) -> list[str]:
        """Return the text itself."""
        return [text]

    def health(self) -> Sequence[Finding]:
        """Return why there is nothing better."""
        return self._shortcomings


def best(hits: Collection[Hit], limit: int) -> list[Hit]:
    """Sort by score, the best first; equal scores have a fixed order."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.note))[:limit]
