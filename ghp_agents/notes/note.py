"""A note: one piece of knowledge that outlives the agent that learnt it."""

import itertools
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ghp_agents.core.errors import NotFoundError, UsageError
from ghp_agents.core.ids import Actor, CloneId, Timestamp, digest, one_line

KINDS = ("decision", "convention", "gotcha", "howto", "fact")
DEFAULT_KIND = "fact"
EDIT, SUPERSEDE, FORGET = "edit", "supersede", "forget"
EVENTS = (EDIT, SUPERSEDE, FORGET)
CHANGEABLE = ("text", "kind", "issue", "paths", "expires", "supersededBy")
TEXT_LIMIT = 8_000  # characters; what is longer is a document, and belongs into the repository

_DATE = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")


class Note(NamedTuple):
    """What is known, who learnt it, when, and in the course of what."""

    id: str
    text: str  # empty once it is forgotten
    kind: str
    by: Actor
    at: Timestamp
    clock: int
    clone: CloneId
    project: str = ""
    issue: int | None = None
    paths: tuple[str, ...] = ()  # patterns, as in .gitignore; none: it is about no place
    expires: str | None = None  # the last day on which it holds
    branch: str | None = None
    commit: str | None = None
    superseded_by: str | None = None  # the id of the note that replaced it
    changed: "NoteChange | None" = None  # the last one
    forgotten: "NoteChange | None" = None

    @property
    def name(self) -> str:
        """Its id in print."""
        return f"N-{self.id}"

    @property
    def title(self) -> str:
        """Its first line that says something."""
        return first_line(self.text)

    def state(self, today: str) -> str:
        """active, superseded, expired or forgotten; only active ones are recalled."""
        if self.forgotten:
            return "forgotten"
        if self.superseded_by:
            return "superseded"
        return "expired" if self.expires and self.expires < today else "active"


class NoteChange(NamedTuple):
    """What somebody said about a note later: new values, or that it is to be forgotten."""

    id: str
    note: str
    event: str
    by: Actor
    at: Timestamp
    clock: int
    clone: CloneId
    values: Mapping[str, Any] = {}


def first_line(text: str, limit: int = 120) -> str:
    """The first line of a text that says something."""
    return one_line(next((line for line in text.splitlines() if line.strip()), ""), limit)


def normalised(text: str) -> str:
    """What two tellings of one fact have in common: not case, spaces, or a full stop."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".! ")


def identity(project: str, text: str) -> str:
    """The id of a note: the same fact told by eight agents is one note."""
    return digest("note", project, normalised(text), length=16)


def folded(note: Note, changes: Iterable[NoteChange]) -> Note:
    """The note after all changes. Of two that change one field the last one wins, by
    `(clock, clone, id)`; what is forgotten stays forgotten, whatever else was said meanwhile."""
    now = note
    for change in sorted(changes, key=lambda each: (each.clock, each.clone, each.id)):
        if change.event == FORGET:
            now = now._replace(forgotten=now.forgotten or change)
        else:
            now = _changed(now, change)
    return now._replace(text="", paths=()) if now.forgotten else now


def _changed(note: Note, change: NoteChange) -> Note:
    names = {"supersededBy": "superseded_by"}
    values = {names.get(key, key): value for key, value in change.values.items()}
    return note._replace(**values, changed=change)


def ordered(notes: Iterable[Note]) -> list[Note]:
    """The oldest first, the same on every machine."""
    return sorted(notes, key=lambda each: (each.clock, each.clone, each.id))


def find(known: Sequence[Note], reference: str) -> Note:
    """The note whose id is, or begins with, `reference`: `N-3f9a`, `3f9a`, `N3f9a`.

    Raises NotFoundError, or UsageError when several fit.
    """
    prefix = reference.strip().lower().removeprefix("n-").removeprefix("n")
    found = [each for each in known if prefix and each.id.startswith(prefix)]
    if len(found) == 1:
        return found[0]
    said = one_line(reference, 40) or "(nothing)"
    if found:
        names = ", ".join(f"{each.name} ({one_line(each.title, 30)})" for each in found[:5])
        raise UsageError(
            f"{said!r} fits {len(found)} notes.",
            hint=f"Name one by more of its id: {names}{'…' if len(found) > 5 else '.'}",
        )
    raise NotFoundError(
        f"There is no note {said}.",
        hint="`ghp agent-notes list --all` lists them; `ghp agent-sync` fetches those of other "
        "clones.",
    )


def short_names(known: Sequence[Note]) -> dict[str, str]:
    """Each one's name as short as it is unique among `known`, at least four digits, by id."""
    ids = sorted({each.id for each in known})
    lengths = dict.fromkeys(ids, 4)
    for one, other in itertools.pairwise(ids):
        pairs = zip(one, other, strict=False)
        same = len([*itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)])
        lengths[one] = max(lengths[one], same + 1)
        lengths[other] = max(lengths[other], same + 1)
    return {each: f"N-{each[:length]}" for each, length in lengths.items()}


def last_day(text: str) -> str:
    """The day of `--expires`, checked. Raises UsageError."""
    from datetime import date

    try:
        if not _DATE.fullmatch(text):
            raise ValueError
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise UsageError(
            f"{one_line(text, 40)!r} is not a day.", hint="Write it as 2026-12-31."
        ) from None


def as_json(note: Note, today: str) -> dict[str, Any]:
    """A note for scripts."""
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
