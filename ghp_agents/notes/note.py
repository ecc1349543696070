"""A note: one fact that outlives the agent that learnt it."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import (
    Actor,
    CloneId,
    Timestamp,
    digest,
    first_line,
    one_line,
    only_match,
    short_ids,
)
from ghp_agents.state.codec import order

KINDS = ("decision", "convention", "gotcha", "howto", "fact")
DEFAULT_KIND = "fact"
EDIT, SUPERSEDE, FORGET = "edit", "supersede", "forget"
EVENTS = (EDIT, SUPERSEDE, FORGET)
TEXT_LIMIT = 8_000  # characters; a longer text is a document and belongs into the repository

_DATE = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")


class Note(NamedTuple):
    """A fact, its author, the time, and the work it came from."""

    id: str
    text: str  # empty once the note is forgotten
    kind: str
    by: Actor
    at: Timestamp
    clock: int
    clone: CloneId
    project: str = ""
    issue: int | None = None
    paths: tuple[str, ...] = ()  # patterns as in .gitignore; none: it is about no path
    expires: str | None = None  # the last day on which it is valid
    branch: str | None = None
    commit: str | None = None
    superseded_by: str | None = None  # the id of the note that replaced it
    changed: "NoteChange | None" = None  # the last change
    forgotten: "NoteChange | None" = None

    @property
    def name(self) -> str:
        """The id as people see it."""
        return f"N-{self.id}"

    @property
    def title(self) -> str:
        """The first line that is not empty."""
        return first_line(self.text)

    def state(self, today: str) -> str:
        """Return active, superseded, expired or forgotten; only active notes are recalled."""
        if self.forgotten:
            return "forgotten"
        if self.superseded_by:
            return "superseded"
        return "expired" if self.expires and self.expires < today else "active"


class NoteChange(NamedTuple):
    """A later change of a note: new values, or that it is forgotten."""

    id: str
    note: str
    event: str
    by: Actor
    at: Timestamp
    clock: int
    clone: CloneId
    values: Mapping[str, Any] = {}


def normalised(text: str) -> str:
    """Normalize a text for comparison: ignore case, spaces and a full stop at the end."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".! ")


def identity(project: str, text: str) -> str:
    """Return the id of a note: the same fact from eight agents is one note."""
    return digest("note", project, normalised(text), length=16)


def folded(note: Note, changes: Iterable[NoteChange]) -> Note:
    """Return the note after all changes. The last change of a field wins, by
    `(clock, clone, id)`; a forgotten note stays forgotten."""
    now = note
    for change in sorted(changes, key=order):
        if change.event == FORGET:
            now = now._replace(forgotten=now.forgotten or change)
        else:
            now = _apply(now, change)
    return now._replace(text="", paths=()) if now.forgotten else now


def _apply(note: Note, change: NoteChange) -> Note:
    names = {"supersededBy": "superseded_by"}
    values = {names.get(key, key): value for key, value in change.values.items()}
    return note._replace(**values, changed=change)


def ordered(notes: Iterable[Note]) -> list[Note]:
    """Sort by age, the oldest first; the same order on every machine."""
    return sorted(notes, key=order)


def find(notes: Sequence[Note], reference: str) -> Note:
    """Find a note by its id or the beginning of it: `N-3f9a`, `3f9a`, `N3f9a`.

    Raises NotFoundError, or UsageError when several match.
    """
    prefix = reference.strip().lower().removeprefix("n-").removeprefix("n")
    matches = [note for note in notes if prefix and note.id.startswith(prefix)]
    hint = (
        "`ghp agent-notes list --all` lists notes; `ghp agent-sync` fetches those of other clones."
    )
    return only_match(
        matches, reference, "note", lambda x: f"{x.name} ({one_line(x.title, 30)})", hint
    )


def short_names(notes: Sequence[Note]) -> dict[str, str]:
    """Return by id the shortest names, of at least four digits, that are unique among `notes`."""
    ids = short_ids(note.id for note in notes)
    return {note_id: f"N-{short}" for note_id, short in ids.items()}


def last_day(text: str) -> str:
    """Return the checked day of `--expires`. Raises UsageError."""
    from datetime import date

    try:
        if not _DATE.fullmatch(text):
            raise ValueError
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise UsageError(
            f"{one_line(text, 40)!r} is not a date.", hint="Write it like 2026-12-31."
        ) from None


def as_json(note: Note, today: str) -> dict[str, Any]:
    """Return a note for scripts."""
    return {
        "id": note.name,
        "state": note.state(today),
        "kind": note.kind,
        "text": note.text,
        "by": note.by.name,
        "person": note.by.is_person,
        "at": note.at,
        "issue": note.issue,
        "paths": list(note.paths),
        "expires": note.expires,
        "branch": note.branch,
        "commit": note.commit,
        "supersededBy": f"N-{note.superseded_by}" if note.superseded_by else None,
        "changedBy": note.changed.by.name if note.changed else None,
        "changedAt": note.changed.at if note.changed else None,
    }
