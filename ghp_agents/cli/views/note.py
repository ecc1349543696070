"""Notes as text: in a table, as search results, in full."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ghp_agents.cli import output
from ghp_agents.core import files
from ghp_agents.core.clock import age
from ghp_agents.core.finding import Finding
from ghp_agents.core.ids import digest, one_line
from ghp_agents.escalations.messages import who
from ghp_agents.hotpath.quoting import clean, file, indented
from ghp_agents.notes import note as rules
from ghp_agents.notes.note import Note
from ghp_agents.notes.recall import Recalled
from ghp_agents.workspace import Workspace

PATHS = 10  # of one note
STYLES = {"active": "", "superseded": "dim", "expired": "dim", "forgotten": "dim"}


def table(chosen: Sequence[Note], all_notes: Sequence[Note], now: float, today: str) -> None:
    """Print notes as a table."""
    names = rules.short_names(all_notes)
    rows = [
        (
            names[note.id],
            note.state(today),
            note.kind,
            f"#{note.issue}" if note.issue else "-",
            note.by.name,
            age(note.at, now),
            one_line(note.title, 80),
        )
        for note in chosen
    ]
    columns = ("ID", "STATE", "KIND", "ISSUE", "BY", "SAVED", "NOTE")
    output.table(columns, rows, [STYLES[note.state(today)] for note in chosen])


def answers(result: Recalled, now: float) -> str:
    """Search results as text, each with its author."""
    return "\n".join(f"{_source(note, now)}\n{indented(note.text)}\n" for note in result.notes)


def _source(note: Note, now: float) -> str:
    """The note's author, age, issue and commit."""
    parts = [f"{note.name} {note.kind}", f"by {who(note.by)}", age(note.at, now)]
    parts += [f"issue #{note.issue}"] if note.issue else []
    parts += [f"commit {file(note.commit[:12])}"] if note.commit else []
    parts += [f"about {', '.join(map(file, note.paths[:PATHS]))}"] if note.paths else []
    return ", ".join(parts)


def hits(result: Recalled, today: str) -> list[dict[str, Any]]:
    """Search results as JSON."""
    return [
        {**rules.as_json(note, today), "score": round(score, 4)}
        for note, score in zip(result.notes, result.scores, strict=True)
    ]


def page(note: Note, today: str) -> str:
    """A note in full."""
    changed = f"{note.changed.by}, {note.changed.at}" if note.changed else ""
    gone = f"{note.forgotten.by}, {note.forgotten.at}" if note.forgotten else ""
    facts = [
        ("State", note.state(today)),
        ("Kind", note.kind),
        ("By", f"{who(note.by)}, {note.at}"),
        ("Issue", f"#{note.issue}" if note.issue else ""),
        ("Branch", f"{note.branch or ''} {(note.commit or '')[:12]}".strip()),
        ("About", ", ".join(note.paths)),
        ("Until", note.expires or ""),
        ("Replaced by", f"N-{note.superseded_by}" if note.superseded_by else ""),
        ("Changed by", changed),
        ("Deleted by", gone),
    ]
    head = "\n".join(f"{key}: {one_line(value, 200)}" for key, value in facts if value)
    return f"{note.name}\n{head}\n" + (f"\n{clean(note.text)}" if note.text else "")


def is_news(ws: Workspace, finding: Finding) -> bool:
    """Whether the finding is new here: it is shown once, and again only by the doctor."""
    mark = ws.cache_dir / f"said-{finding.code}-{digest(finding.text, length=8)}"
    if mark.exists():
        return False
    with contextlib.suppress(OSError):
        files.write_atomically(mark, b"")
    return True


def has_index(ws: Workspace) -> bool:
    """Whether there is an index."""
    return any(Path(folder, "index").is_dir() for folder in ws.folders) or bool(
        ws.settings.notes.get("vector_store")
    )
