"""Notes as lines of markdown, for the templates of handoff and resume."""

from collections.abc import Sequence

from ghp_agents.escalations.messages import who
from ghp_agents.handoffs import markdown
from ghp_agents.hotpath.quoting import file, phrase
from ghp_agents.notes.note import Note

LENGTH = 300  # characters of a note; `ghp agent-notes show` has the rest


def note_lines(notes: Sequence[Note], now: float) -> list[str]:
    """Return one line for each note: author, time and place, and the text as a quotation."""
    return [f"{_source(note, now)}: {phrase(note.text, LENGTH)}" for note in notes]


def _source(note: Note, now: float) -> str:
    issue = f", on #{note.issue}" if note.issue else ""
    commit = f", at {file(note.commit[:12])}" if note.commit else ""
    return (
        f"{note.name}, {note.kind} by {who(note.by)}, {markdown.age(note.at, now)}{issue}{commit}"
    )
