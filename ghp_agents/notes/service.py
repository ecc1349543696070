"""Notes: save facts for future agents; edit, replace or forget them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ghp_agents.core import secret_scan
from ghp_agents.core.errors import RefusedError, UsageError
from ghp_agents.core.finding import Finding, ok, warning
from ghp_agents.core.ids import Timestamp, digest
from ghp_agents.core.moment import derived
from ghp_agents.git import worktree
from ghp_agents.hotpath.quoting import clean
from ghp_agents.issues.numbers import named_or_current
from ghp_agents.notes import note as rules
from ghp_agents.notes import record
from ghp_agents.notes.note import (
    DEFAULT_KIND,
    EDIT,
    FORGET,
    SUPERSEDE,
    TEXT_LIMIT,
    Note,
    NoteChange,
)
from ghp_agents.ports import Context, Snapshot
from ghp_agents.state.codec import ledger_record
from ghp_agents.state.record import NOTES, Problem, Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import Workspace, now_text


class RememberResult(NamedTuple):
    """The result of saving a note, new or repeated."""

    note: Note
    is_new: bool
    replaced: tuple[Note, ...] = ()  # notes that it newly supersedes
    notes: tuple[str, ...] = ()  # hints for the author


class Changed(NamedTuple):
    """The result of a change."""

    note: Note
    is_new: bool  # False: nothing changed


@derived
def read_all(snapshot: Snapshot) -> tuple[list[Note], list[Problem]]:
    """Read all notes, forgotten ones too; also what cannot be read."""
    return record.read_notes(snapshot.files(NOTES))


def active(ws: Workspace, notes: Sequence[Note]) -> list[Note]:
    """Return the notes that are not replaced, expired or forgotten."""
    return [note for note in notes if note.state(today(ws)) == "active"]


def today(ws: Workspace) -> str:
    """Return today's date, in UTC."""
    return now_text(ws)[:10]


def remember(
    ctx: Context,
    text: str,
    *,
    project: str,
    kind: str = DEFAULT_KIND,
    issue: str | None = None,
    paths: Sequence[str] = (),
    supersedes: str | None = None,
    expires: str | None = None,
) -> RememberResult:
    """Save a note. The same text from anybody is the same note.

    Raises UsageError, NotFoundError (for a named issue or note), RefusedError for a forgotten
    text; then nothing was recorded.
    """
    actor, tidy = ctx.ws.actor(), tidied(text)
    new = Note(
        id=rules.identity(project, tidy),
        text=tidy,
        kind=checked_kind(kind),
        by=actor,
        at=Timestamp(now_text(ctx.ws)),
        clock=0,
        clone=ctx.store.snapshot().clone,
        project=project,
        issue=named_or_current(ctx, None if actor.is_person else actor.name, issue or None),
        paths=tuple(paths),
        expires=_future_day(ctx.ws, expires),
        branch=ctx.ws.branch,
        commit=worktree.head(ctx.ws.folder) or None,
    )

    def decide(snapshot: Snapshot) -> tuple[RememberResult, list[Record]]:
        notes, _ = read_all(snapshot)
        same = _find_same(notes, new)
        note = same or new._replace(clock=snapshot.clock + 1, clone=snapshot.clone)
        old = rules.find(notes, supersedes) if supersedes else None
        changes = _renew(snapshot, new, same) + _supersede(snapshot, new, note, old)
        replaced = tuple(old for change in changes if old and change.note == old.id)
        after = rules.folded(note, [change for change in changes if change.note == note.id])
        result = RememberResult(after, same is None, replaced, _hints(same))
        if same and not changes:
            return result, []
        return result, [_note_record(note, changes, is_new=same is None)]

    return transact(ctx.store, decide)


def _find_same(notes: Sequence[Note], new: Note) -> Note | None:
    """Find an existing note with the same text. Raises RefusedError if it was forgotten."""
    text = rules.normalised(new.text)
    same = next((note for note in notes if note.id == new.id), None)
    same = same or next((note for note in notes if rules.normalised(note.text) == text), None)
    if same and same.forgotten:
        raise RefusedError(
            f"This note was deleted by {same.forgotten.by} ({same.name}).",
            hint="If it is true after all, add it again with different wording.",
        )
    return same


def _renew(snapshot: Snapshot, new: Note, same: Note | None) -> list[NoteChange]:
    """Return the change to a new last day, if an existing note is saved again with one."""
    if same is None or new.expires is None or new.expires == same.expires:
        return []
    return [_change(snapshot, new, same.id, EDIT, {"expires": new.expires})]


def _supersede(snapshot: Snapshot, new: Note, note: Note, old: Note | None) -> list[NoteChange]:
    """Return the changes that let `note` supersede `old`."""
    if old is None:
        return []
    if old.id == note.id:
        raise UsageError(
            f"{old.name} has the same text; a note cannot replace itself.",
            hint=f"Change it: ghp agent-notes edit {old.name} TEXT",
        )
    changes: list[NoteChange] = []
    if note.superseded_by == old.id:  # the other way round until now
        changes.append(_change(snapshot, new, note.id, SUPERSEDE, {"supersededBy": None}))
    if old.superseded_by != note.id:
        changes.append(_change(snapshot, new, old.id, SUPERSEDE, {"supersededBy": note.id}))
    return changes


def _hints(same: Note | None) -> tuple[str, ...]:
    if same is None or same.superseded_by is None:
        return ()
    return (
        f"{same.name} was replaced by N-{same.superseded_by} and no longer appears in searches.",
    )


def _note_record(note: Note, changes: Sequence[NoteChange], *, is_new: bool) -> Record:
    files = [(record.path_of(note.id), record.render(note))] if is_new else []
    files += [(record.change_path_of(change), record.render_change(change)) for change in changes]
    first = note if is_new else changes[0]
    return ledger_record(first, "remember", note.name, files, issue=note.issue, text=note.title)


def tidied(text: str) -> str:
    """Normalize a text. Raises UsageError if it is empty, too long, or contains a secret."""
    plain = text.encode("utf-8", "replace").decode("utf-8")
    tidy = clean(plain.replace("\r\n", "\n").replace("\r", "\n")).strip()
    if not tidy:
        raise UsageError("The note is empty.", hint="Give a text, or `-` to read it from stdin.")
    if len(tidy) > TEXT_LIMIT:
        raise UsageError(
            f"The note has {len(tidy)} characters; the limit is {TEXT_LIMIT}.",
            hint="Write one fact per note. Put longer text into a file in the repository.",
        )
    secret_scan.refuse_in_note(tidy)
    return tidy


def checked_kind(kind: str) -> str:
    """Check a kind of note. Raises UsageError."""
    if kind not in rules.KINDS:
        raise UsageError(
            f"{kind[:40]!r} is not a kind of note.", hint=f"Use {', '.join(rules.KINDS)}."
        )
    return kind


def _future_day(ws: Workspace, text: str | None) -> str | None:
    if text is None:
        return None
    day = rules.last_day(text)
    if day < today(ws):
        raise UsageError(f"{day} is in the past.", hint="Give the last day on which it is valid.")
    return day


def edit(ctx: Context, reference: str, values: Mapping[str, Any]) -> Changed:
    """Give a note a new text, kind, issue, paths or last day; its id stays. Raises UsageError,
    NotFoundError, RefusedError for a forgotten note."""
    checked = dict(values)
    if "text" in checked:
        checked["text"] = tidied(checked["text"])
    if "kind" in checked:
        checked_kind(checked["kind"])
    if checked.get("expires"):
        checked["expires"] = rules.last_day(checked["expires"])
    if not checked:
        raise UsageError("No change was given.", hint="Give a new text or use an option.")
    actor, at = ctx.ws.actor(), Timestamp(now_text(ctx.ws))

    def decide(snapshot: Snapshot) -> tuple[Changed, list[Record]]:
        previous = _find_kept(snapshot, reference)
        new = {key: value for key, value in checked.items() if getattr(previous, key) != value}
        if not new:
            return Changed(previous, is_new=False), []
        edited = previous._replace(by=actor, at=at)
        change = _change(snapshot, edited, previous.id, EDIT, new)
        now = rules.folded(previous, [change])
        return Changed(now, is_new=True), [_change_record(now, change, "note-edit")]

    return transact(ctx.store, decide)


def forget(ctx: Context, reference: str) -> Changed:
    """Remove a note's text from the state. A record of that stays, and wins over changes from
    other clones. Raises NotFoundError, UsageError."""
    actor, at = ctx.ws.actor(), Timestamp(now_text(ctx.ws))

    def decide(snapshot: Snapshot) -> tuple[Changed, list[Record]]:
        notes, _ = read_all(snapshot)
        note = rules.find(notes, reference)
        if note.forgotten:
            return Changed(note, is_new=False), []
        change = _change(snapshot, note._replace(by=actor, at=at), note.id, FORGET, {})
        now = rules.folded(note, [change])
        texts = record.texts_of(note.id, snapshot.files(record.folder_of(note.id)))
        blank = [(path, record.withdrawn(note.id)) for path in texts]
        return Changed(now, is_new=True), [_change_record(now, change, "note-forget", blank)]

    return transact(ctx.store, decide)


def withdraw(ctx: Context) -> int:
    """Remove texts that others have forgotten from this clone's own files; only this clone can.
    Return how many there were."""

    def decide(snapshot: Snapshot) -> tuple[int, list[Record]]:
        gone = record.forgotten_in(snapshot.files(record.FORGOTTEN))
        if not gone:
            return 0, []
        own = snapshot.own(NOTES)
        records: list[Record] = []
        for note, change in gone.items():
            blank = [(path, record.withdrawn(note)) for path in record.texts_of(note, own)]
            if blank:
                clock = snapshot.clock + 1 + len(records)
                withdrawal = change._replace(
                    id=digest("withdraw", note, snapshot.clone),
                    at=Timestamp(now_text(ctx.ws)),
                    clock=clock,
                )
                records.append(ledger_record(withdrawal, "note-withdraw", f"N-{note}", blank))
        return len(records), records

    return transact(ctx.store, decide)


def _find_kept(snapshot: Snapshot, reference: str) -> Note:
    notes, _ = read_all(snapshot)
    note = rules.find(notes, reference)
    if note.forgotten:
        raise RefusedError(
            f"{note.name} is deleted.",
            hint="Add it again with different wording: ghp agent-remember",
        )
    return note


def _change(
    snapshot: Snapshot, source: Note, note: str, event: str, values: Mapping[str, Any]
) -> NoteChange:
    clock = snapshot.clock + 1
    identity = digest(note, event, source.by.name, source.at, repr(sorted(values.items())),
                      str(clock), snapshot.clone)  # fmt: skip
    return NoteChange(identity, note, event, source.by, source.at, clock, snapshot.clone, values)


def _change_record(
    note: Note, change: NoteChange, event: str, files: Sequence[tuple[str, bytes]] = ()
) -> Record:
    own = (record.change_path_of(change), record.render_change(change))
    return ledger_record(change, event, note.name, (own, *files), issue=note.issue, text=note.title)


def check(ws: Workspace, shortcomings: Callable[[], Sequence[Finding]]) -> Iterator[Finding]:
    """Report how well notes can be searched here."""
    ignored = ws.settings.notes.get("ignored", ())
    if ignored:
        named = ", ".join(f"`memory.{name}`" for name in ignored)
        yield warning(
            "knowledge",
            f"{named} in .ghp/config.json is ignored: it could send notes and keys anywhere.",
            "If you trust it, set it in ~/.config/ghp-cli/config.json.",
        )
    findings = shortcomings()
    yield from findings
    if not findings:
        yield ok("knowledge", "Notes are searched by meaning.")
