"""The knowledge base in memory, for tests: it finds notes that share a word."""

from collections.abc import Collection, Sequence

from ghp_agents.core.finding import Finding
from ghp_agents.notes.note import Note
from ghp_agents.notes.search.result import Hit, IndexUpdate, KnowledgeError


class MemoryBase:
    """`ports.KnowledgeBase` for tests; they can also set a language model's answer."""

    def __init__(self, facts: Sequence[str] | None = None) -> None:
        self._facts = facts
        self._texts: dict[str, str] = {}
        self.reachable = True

    def index(self, notes: Sequence[Note]) -> IndexUpdate:
        """Index exactly these notes from now on."""
        self._check_reachable()
        previous, self._texts = self._texts, {note.id: note.text for note in notes}
        both = self._texts.keys() & previous.keys()
        return IndexUpdate(
            total=len(notes),
            added=len(self._texts.keys() - previous.keys()),
            changed=sum(1 for note in both if previous[note] != self._texts[note]),
            removed=len(previous.keys() - self._texts.keys()),
        )

    def search(
        self, query: str, notes: Sequence[Note], limit: int, among: Collection[str] | None = None
    ) -> list[Hit]:
        """Return the notes that share most words with the query."""
        self.index(notes)
        wanted = set(query.casefold().split())
        scored = [
            Hit(note.id, float(len(wanted & set(note.text.casefold().split()))))
            for note in notes
            if among is None or note.id in among
        ]
        hits = sorted((hit for hit in scored if hit.score), key=lambda hit: (-hit.score, hit.note))
        return hits[:limit]

    def extract_facts(self, text: str) -> list[str]:
        """Return the facts that the test has set; without any, the text itself."""
        if self._facts is None:
            return [text]
        if not self._facts:
            raise KnowledgeError("No fact was found in the text.", hint="Say it in other words.")
        return list(self._facts)

    def health(self) -> list[Finding]:
        """Return none."""
        return []

    def _check_reachable(self) -> None:
        if not self.reachable:
            raise KnowledgeError("The knowledge base is away.", hint="Try again.")
