"""Notes: tell what should outlive its teller, and change, replace or forget what was told."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ghp_agents.core import secret_scan as secret
from ghp_agents.core.errors import NotFoundError, RefusedError, UnknownError, UsageError
from ghp_agents.core.ids import Actor, Timestamp, digest
from ghp_agents.git import process as git
from ghp_agents.hotpath.quoting import clean
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
from ghp_agents.ports import IssueTracker, Snapshot, StateStore
from ghp_agents.state.join import Problem
from ghp_agents.state.record import NOTES, Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import Workspace, now_text


class RememberResult(NamedTuple):
    """What became of something that was told, or told again."""

    note: Note
    is_new: bool
    replaced: tuple[Note, ...] = ()  # what it newly supersedes
    notes: tuple[str, ...] = ()  # what its teller should know


class Changed(NamedTuple):
    """What became of a change."""

    note: Note
    is_new: bool  # False: it was so already


def read_all(snapshot: Snapshot) -> tuple[list[Note], list[Problem]]:
    """All notes as they are now, those that are forgotten among them, and what cannot be read."""
    return record.read_notes(snapshot.files(NOTES))


def active(ws: Workspace, known: Sequence[Note]) -> list[Note]:
    """Those that hold today: neither replaced, nor expired, nor forgotten."""
    return [note for note in known if note.state(today(ws)) == "active"]


def today(ws: Workspace) -> str:
    """The day, in UTC."""
    return now_text(ws)[:10]


# ---------------------------------------------------------------------------------- telling


def remember(
    ws: Workspace,
    store: StateStore,
    tracker: IssueTracker,
    text: str,
    *,
    project: str,
    kind: str = DEFAULT_KIND,
    issue: str | None = None,
    paths: Sequence[str] = (),
    supersedes: str | None = None,
    expires: str | None = None,
) -> RememberResult:
    """Tell a note. Told again it is the same note, whoever tells it.

    Raises UsageError, NotFoundError (an issue or a note that is named), RefusedError for what was
    forgotten; then nothing was recorded.
    """
    actor, tidy = ws.actor(), tidied(text)
    made = Note(
        id=rules.identity(project, tidy),
        text=tidy,
        kind=checked_kind(kind),
        by=actor,
        at=Timestamp(now_text(ws)),
        clock=0,
        clone=store.snapshot().clone,
        project=project,
        issue=_issue(ws, tracker, actor, issue),
        paths=tuple(paths),
        expires=_coming_day(ws, expires),
        branch=ws.branch,
        commit=_commit(ws),
    )

    def decide(snapshot: Snapshot) -> tuple[RememberResult, list[Record]]:
        known, _ = read_all(snapshot)
        had = _same(known, made)
        note = had or made._replace(clock=snapshot.clock + 1, clone=snapshot.clone)
        old = rules.find(known, supersedes) if supersedes else None
        changes = _renewal(snapshot, made, had) + _replacing(snapshot, made, note, old)
        replaced = tuple(old for change in changes if old and change.note == old.id)
        told = RememberResult(
            rules.folded(note, _about(note, changes)), had is None, replaced, _hints(had)
        )
        if had and not changes:
            return told, []
        return told, [_telling(note, changes, made, is_new=had is None)]

    return transact(store, decide)


def _same(known: Sequence[Note], made: Note) -> Note | None:
    """The note that says this already. Raises RefusedError if it was forgotten."""
    said = rules.normalised(made.text)
    had = next((note for note in known if note.id == made.id), None)
    had = had or next((note for note in known if rules.normalised(note.text) == said), None)
    if had and had.forgotten:
        raise RefusedError(
            f"{had.name} said this, and {had.forgotten.by} let it be forgotten.",
            hint="If it holds after all, say it in other words.",
        )
    return had


def _renewal(snapshot: Snapshot, made: Note, had: Note | None) -> list[NoteChange]:
    """Told again with another last day: that is what is new about it."""
    if had is None or made.expires is None or made.expires == had.expires:
        return []
    return [_change(snapshot, made, had.id, EDIT, {"expires": made.expires})]


def _replacing(snapshot: Snapshot, made: Note, note: Note, old: Note | None) -> list[NoteChange]:
    """What it takes for `note` to stand in the place of `old`."""
    if old is None:
        return []
    if old.id == note.id:
        raise UsageError(
            f"{old.name} says just this; a note cannot replace itself.",
            hint=f"Change it: ghp agent-notes edit {old.name} TEXT",
        )
    changes: list[NoteChange] = []
    if note.superseded_by == old.id:  # the other way round until now
        changes.append(_change(snapshot, made, note.id, SUPERSEDE, {"supersededBy": None}))
    if old.superseded_by != note.id:
        changes.append(_change(snapshot, made, old.id, SUPERSEDE, {"supersededBy": note.id}))
    return changes


def _hints(had: Note | None) -> tuple[str, ...]:
    if had is None or had.superseded_by is None:
        return ()
    return (f"{had.name} was replaced by N-{had.superseded_by} and is not recalled.",)


def _telling(note: Note, changes: Sequence[NoteChange], made: Note, *, is_new: bool) -> Record:
    files = [(record.path_of(note.id), record.render(note))] if is_new else []
    files += [(record.change_path_of(each), record.render_change(each)) for each in changes]
    return Record(
        event="remember",
        actor=made.by,
        object=note.name,
        id=note.id if is_new else changes[0].id,
        at=made.at,
        clock=note.clock if is_new else changes[0].clock,
        files=tuple(files),
        issue=note.issue,
        text=note.title,
    )


def tidied(text: str) -> str:
    """A text as it is kept. Raises UsageError when there is none, too much, or a secret in it."""
    plain = text.encode("utf-8", "replace").decode("utf-8")
    tidy = clean(plain.replace("\r\n", "\n").replace("\r", "\n")).strip()
    if not tidy:
        raise UsageError("The note is empty.", hint="Give a text, or `-` to read it from stdin.")
    if len(tidy) > TEXT_LIMIT:
        raise UsageError(
            f"The note has {len(tidy)} characters; at most {TEXT_LIMIT} are kept.",
            hint="One fact is one note; what is longer belongs into a file of the repository.",
        )
    secret.refuse_in_note(tidy)
    return tidy


def checked_kind(kind: str) -> str:
    """A kind of note. Raises UsageError."""
    if kind not in rules.KINDS:
        raise UsageError(
            f"{kind[:40]!r} is no kind of note.", hint=f"Use {', '.join(rules.KINDS)}."
        )
    return kind


def _coming_day(ws: Workspace, text: str | None) -> str | None:
    if text is None:
        return None
    day = rules.last_day(text)
    if day < today(ws):
        raise UsageError(f"{day} is over already.", hint="Name the last day on which it holds.")
    return day


def _issue(ws: Workspace, tracker: IssueTracker, actor: Actor, named: str | None) -> int | None:
    """The issue that is named, or the one in hand; a note is not lost for an issue that is not
    to be found."""
    wanted = named or ws.issue_in_hand(None if actor.is_person else actor.name)
    if wanted is None:
        return None
    try:
        return tracker.get(wanted).number
    except NotFoundError:
        if named is not None:
            raise
        return None
    except UnknownError:
        number = str(wanted).removeprefix("#")
        if not (number.isascii() and number.isdigit()):
            raise
        return int(number)


def _commit(ws: Workspace) -> str | None:
    shown = git.run(["rev-parse", "--verify", "--quiet", "HEAD"], cwd=ws.folder)
    return shown.text if shown.code == 0 else None


# --------------------------------------------------------------------------------- changing


def edit(ws: Workspace, store: StateStore, reference: str, values: Mapping[str, Any]) -> Changed:
    """Give a note new values (`rules.CHANGEABLE`); its id stays. Raises UsageError, NotFoundError,
    RefusedError for one that is forgotten."""
    checked = dict(values)
    if "text" in checked:
        checked["text"] = tidied(checked["text"])
    if "kind" in checked:
        checked_kind(checked["kind"])
    if checked.get("expires"):
        checked["expires"] = rules.last_day(checked["expires"])
    if not checked:
        raise UsageError("Nothing is to be changed.", hint="Give a new text or an option.")
    actor, at = ws.actor(), Timestamp(now_text(ws))

    def decide(snapshot: Snapshot) -> tuple[Changed, list[Record]]:
        had = _known(snapshot, reference)
        new = {key: value for key, value in checked.items() if _value(had, key) != value}
        if not new:
            return Changed(had, is_new=False), []
        said = had._replace(by=actor, at=at)
        change = _change(snapshot, said, had.id, EDIT, new)
        now = rules.folded(had, [change])
        return Changed(now, is_new=True), [_saying(now, change, "note-edit")]

    return transact(store, decide)


def _value(note: Note, key: str) -> Any:
    return note.superseded_by if key == "supersededBy" else getattr(note, key)


def forget(ws: Workspace, store: StateStore, reference: str) -> Changed:
    """Take a note's text out of the state; what says that it is gone stays, and wins over all
    that is said of it elsewhere. Raises NotFoundError, UsageError."""
    actor, at = ws.actor(), Timestamp(now_text(ws))

    def decide(snapshot: Snapshot) -> tuple[Changed, list[Record]]:
        known, _ = read_all(snapshot)
        had = rules.find(known, reference)
        if had.forgotten:
            return Changed(had, is_new=False), []
        change = _change(snapshot, had._replace(by=actor, at=at), had.id, FORGET, {})
        now = rules.folded(had, [change])
        blank = [(path, record.withdrawn(had.id)) for path in _texts(snapshot.files, had.id)]
        return Changed(now, is_new=True), [_saying(now, change, "note-forget", blank)]

    return transact(store, decide)


def withdraw(ws: Workspace, store: StateStore) -> int:
    """Take texts of what others let be forgotten out of what this clone itself keeps, as only it
    can; how many there were."""

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
                said = change._replace(
                    id=digest("withdraw", note, snapshot.clone),
                    at=Timestamp(now_text(ws)),
                    clock=clock,
                )
                records.append(_saying(None, said, "note-withdraw", blank, is_said=False))
        return len(records), records

    return transact(store, decide)


def _texts(files: Any, note: str) -> list[str]:
    return record.texts_of(note, files(record.folder_of(note)))


def _known(snapshot: Snapshot, reference: str) -> Note:
    known, _ = read_all(snapshot)
    had = rules.find(known, reference)
    if had.forgotten:
        raise RefusedError(
            f"{had.name} is forgotten.", hint="Tell it anew, in other words: ghp agent-remember"
        )
    return had


def _change(
    snapshot: Snapshot, said: Note, note: str, event: str, values: Mapping[str, Any]
) -> NoteChange:
    clock = snapshot.clock + 1
    identity = digest(note, event, said.by.name, said.at, repr(sorted(values.items())),
                      str(clock), snapshot.clone)  # fmt: skip
    return NoteChange(identity, note, event, said.by, said.at, clock, snapshot.clone, values)


def _saying(
    note: Note | None,
    change: NoteChange,
    event: str,
    files: Sequence[tuple[str, bytes]] = (),
    *,
    is_said: bool = True,
) -> Record:
    own = [(record.change_path_of(change), record.render_change(change))] if is_said else []
    return Record(
        event=event,
        actor=change.by,
        object=f"N-{change.note}",
        id=change.id,
        at=change.at,
        clock=change.clock,
        files=(*own, *files),
        issue=note.issue if note else None,
        text=note.title if note and event == "note-edit" else "",
    )


def _about(note: Note, changes: Sequence[NoteChange]) -> list[NoteChange]:
    return [change for change in changes if change.note == note.id]
