"""The knowledge base in memory: the twin for tests, which finds what shares a word."""

from collections.abc import Collection, Sequence

from ghp_agents.core.finding import Finding
from ghp_agents.notes.note import Note
from ghp_agents.notes.search.result import Hit, IndexUpdate, KnowledgeError


class MemoryBase:
    """`ports.KnowledgeBase` for tests, which also say what a language model would answer."""

    def __init__(self, facts: Sequence[str] | None = None) -> None:
        self._facts = facts
        self._texts: dict[str, str] = {}
        self.reachable = True

    def bring(self, notes: Sequence[Note]) -> IndexUpdate:
        """Hold exactly these from now on."""
        self._refuse_if_away()
        had, self._texts = self._texts, {note.id: note.text for note in notes}
        both = self._texts.keys() & had.keys()
        return IndexUpdate(
            total=len(notes),
            added=len(self._texts.keys() - had.keys()),
            changed=sum(1 for note in both if had[note] != self._texts[note]),
            removed=len(had.keys() - self._texts.keys()),
        )

    def search(
        self, query: str, notes: Sequence[Note], limit: int, among: Collection[str] | None = None
    ) -> list[Hit]:
        """The notes that share most words with the query."""
        self.bring(notes)
        wanted = set(query.casefold().split())
        scored = [
            Hit(note.id, float(len(wanted & set(note.text.casefold().split()))))
            for note in notes
            if among is None or note.id in among
        ]
        found = sorted((hit for hit in scored if hit.score), key=lambda hit: (-hit.score, hit.note))
        return found[:limit]

    def distil(self, text: str) -> list[str]:
        """The facts that the test says are in it; the text itself if it says nothing."""
        if self._facts is None:
            return [text]
        if not self._facts:
            raise KnowledgeError("No fact was found in the text.", hint="Say it in other words.")
        return list(self._facts)

    def shortcomings(self) -> list[Finding]:
        """None: it is as good as it gets."""
        return []

    def _refuse_if_away(self) -> None:
        if not self.reachable:
            raise KnowledgeError("The knowledge base is away.", hint="Try again.")
