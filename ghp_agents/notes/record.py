"""Notes as files of the state. People read them; anybody may have written them.

A note is `.ghp/notes/<2>/<id>.md`; its later changes are in the folder `<id>` next to it. Two
clones that store the same fact write the same path: the join picks the same one on every machine.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypedDict

from ghp_agents.core import front_matter
from ghp_agents.core.fields import any_count, any_list, any_text, is_oid
from ghp_agents.core.front_matter import Document
from ghp_agents.core.ids import one_line
from ghp_agents.notes.note import (
    DEFAULT_KIND,
    EDIT,
    EVENTS,
    FORGET,
    KINDS,
    SUPERSEDE,
    TEXT_LIMIT,
    Note,
    NoteChange,
    folded,
    ordered,
)
from ghp_agents.state.codec import ProvenanceFields, any_provenance, read_files, written_provenance
from ghp_agents.state.record import NOTES, Problem

FORGOTTEN = ".ghp/notes/forgotten/"
_NOTE = re.compile(r"\.ghp/notes/[0-9a-f]{2}/([0-9a-f]{8,64})\.md")
_CHANGE = re.compile(r"\.ghp/notes/(?:[0-9a-f]{2}|forgotten)/([0-9a-f]{8,64})/([0-9a-f]{8,64})\.md")
_SOMEBODY = {"by": "somebody", "person": True}


def folder_of(note: str) -> str:
    """Return the folder of all notes whose ids begin like this one's."""
    return f"{NOTES}{note[:2]}/"


def path_of(note: str) -> str:
    """Return the path of the note with this id in the state."""
    return f"{folder_of(note)}{note}.md"


def change_path_of(change: NoteChange) -> str:
    """Return the path of a change. Forgotten notes have a separate folder, so their texts can be
    removed without reading all notes."""
    if change.event in (EDIT, SUPERSEDE):
        return f"{folder_of(change.note)}{change.note}/{change.id}.md"
    return f"{FORGOTTEN}{change.note}/{change.id}.md"


class NoteFile(ProvenanceFields):
    """The front matter of a note. The body is its text."""

    id: str
    kind: str
    project: str
    issue: int | None
    paths: list[str]
    expires: str | None
    branch: str | None
    commit: str | None


class WithdrawnFile(TypedDict):
    """What replaces the texts of a deleted note."""

    withdrawn: Literal[True]
    id: str


class NoteValues(TypedDict, total=False):
    """The new values of a change."""

    kind: str
    issue: int | None
    paths: list[str]
    expires: str | None
    supersededBy: str | None


class NoteChangeFile(ProvenanceFields, TypedDict):
    """The front matter of a change of a note. The body is its new text."""

    about: str
    event: str
    newText: bool
    set: NoteValues


def render(note: Note) -> bytes:
    """Return a new note's file."""
    meta = {
        "id": note.name,
        "kind": note.kind,
        **written_provenance(note),
        "project": note.project,
        "issue": note.issue,
        "paths": list(note.paths),
        "expires": note.expires,
        "branch": note.branch,
        "commit": note.commit,
    }
    return front_matter.render(Document(meta, note.text + "\n"))


def render_change(change: NoteChange) -> bytes:
    """Return a change's file; a new text is its body."""
    values = {key: value for key, value in change.values.items() if key != "text"}
    meta = {
        "about": f"N-{change.note}",
        "event": change.event,
        **written_provenance(change),
        "newText": "text" in change.values,
        "set": values,
    }
    body = f"{change.values['text']}\n" if "text" in change.values else ""
    return front_matter.render(Document(meta, body))


def withdrawn(note: str) -> bytes:
    """Return the content that replaces a forgotten text.

    The join takes the greater of two contents. This one is greater than any note, because its
    first field sorts last. It is the same on every machine and in every version.
    """
    return f'---\nwithdrawn: true\nid: "N-{note}"\n---\n\n'.encode()


def texts_of(note: str, files: Mapping[str, bytes]) -> list[str]:
    """Return the paths among `files` that still hold a text of this note."""
    blank, changes_folder = withdrawn(note), f"{folder_of(note)}{note}/"
    return [
        path
        for path, data in sorted(files.items())
        if (path == path_of(note) or path.startswith(changes_folder)) and data != blank
    ]


def forgotten_in(files: Mapping[str, bytes]) -> dict[str, NoteChange]:
    """Return the forgotten notes, by id, in the files below FORGOTTEN."""
    changes = [x for x in read_files(files, _change, _CHANGE)[0] if x.event == FORGET]
    return {item.note: item for item in sorted(changes, key=lambda item: (-item.clock, item.id))}


def read_notes(files: Mapping[str, bytes]) -> tuple[list[Note], list[Problem]]:
    """Read the notes from files of the state, with all changes, the oldest first; also what could
    not be read. Unknown files are ignored."""
    notes, problems = read_files(files, _note, _NOTE)
    changes, more = read_files(files, _change, _CHANGE)
    about: dict[str, list[NoteChange]] = {}
    for change in changes:
        about.setdefault(change.note, []).append(change)
    unique = {note.id: note for note in notes}.values()
    whole = [folded(note, about.get(note.id, ())) for note in unique]
    return ordered(note for note in whole if note.text or note.forgotten), problems + more


def _note(identity: str, data: bytes) -> Note:
    document = front_matter.parse(data)
    meta = document.meta
    text = document.body.removesuffix("\n")[:TEXT_LIMIT]
    gone = meta.get("withdrawn") is True
    if not (text.strip() or gone):
        raise ValueError("a note without a text")
    return Note(
        id=identity,
        text="" if gone else text,
        kind=_kind(meta.get("kind")),
        **any_provenance({**meta, **_SOMEBODY} if gone else meta, _line),
        project=_line(meta.get("project")),
        issue=any_count(meta.get("issue")) or None,
        paths=_lines(meta.get("paths")),
        expires=_line(meta.get("expires")) or None,
        branch=_line(meta.get("branch")) or None,
        commit=meta["commit"] if is_oid(meta.get("commit")) else None,
    )


def _change(note: str, identity: str, data: bytes) -> NoteChange | None:
    document = front_matter.parse(data)
    meta = document.meta
    if meta.get("withdrawn") is True:
        return None
    event = meta.get("event")
    if event not in EVENTS:
        raise ValueError("it does not say what it does to the note")
    values = _values(meta.get("set"))
    if meta.get("newText") is True and document.body.strip():
        values["text"] = document.body.removesuffix("\n")[:TEXT_LIMIT]
    return NoteChange(
        id=identity,
        note=note,
        event=event,
        **any_provenance(meta, _line),
        values=values,
    )


def _values(raw: Any) -> dict[str, Any]:
    """Return a change's new values, of the fields that this version knows."""
    if not isinstance(raw, dict):
        return {}
    fields: dict[str, Callable[[Any], Any]] = {
        "kind": _kind,
        "issue": lambda value: any_count(value) or None,
        "paths": _lines,
        "expires": lambda value: _line(value) or None,
        "supersededBy": lambda value: _line(value).removeprefix("N-") or None,
    }
    return {key: read_as(raw[key]) for key, read_as in fields.items() if key in raw}


def _kind(value: Any) -> str:
    return value if value in KINDS else DEFAULT_KIND


def _line(value: object) -> str:
    return one_line(any_text(value), 200)


def _lines(value: object) -> tuple[str, ...]:
    return tuple(map(_line, any_list(value)))[:100]
