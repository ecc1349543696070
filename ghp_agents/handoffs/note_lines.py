"""Notes as lines of markdown, for the templates of handoff and resume."""

from collections.abc import Sequence

from ghp_agents.handoffs import markdown as page
from ghp_agents.hotpath.quoting import file, phrase
from ghp_agents.notes.note import Note

LENGTH = 300  # characters of a note; `ghp agent-notes show` has the rest


def note_lines(notes: Sequence[Note], now: float) -> list[str]:
    """Notes with who learnt them, when and where; their texts as quotations on one line."""
    return [f"{_source(note, now)}: {phrase(note.text, LENGTH)}" for note in notes]


def _source(note: Note, now: float) -> str:
    by = page.name_of(note.by.name, note.by.is_person)
    issue = f", on #{note.issue}" if note.issue else ""
    commit = f", at {file(note.commit[:12])}" if note.commit else ""
    return f"{note.name}, {note.kind} by {by}, {page.age(note.at, now)}{issue}{commit}"
