"""The ledger: who recorded what, in the same order on every machine.

Each commit on a clone's ref is an entry; a presence commit is one entry per agent that changed.
Entries are ordered by Lamport clock, then by clone id. So causes come before effects, whatever the
machines' clocks show. Queries select by agent, issue, event and time.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ghp_agents.core.clock import to_seconds
from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import Actor, CloneId, Timestamp, one_line
from ghp_agents.hotpath.quoting import file, named
from ghp_agents.state import legacy_causes
from ghp_agents.state.events import BEGAN, EVENTS, STOPPED, EventKind, kind_of
from ghp_agents.state.events import PRESENCE as PRESENCE
from ghp_agents.state.join import Tip
from ghp_agents.state.record import Movement, Record

if TYPE_CHECKING:
    from ghp_agents.ports import StateStore

Cursor = tuple[Tip, ...]  # where a reader stopped: the tips of all clones that it has read
PRESENCE_SUBJECT = f"{PRESENCE} "  # begins the subject of a commit without a record


class LedgerEntry(NamedTuple):
    """An entry; sorts in ledger order."""

    clock: int
    clone: CloneId
    id: str
    event: str
    actor: str
    object: str
    at: Timestamp
    is_person: bool = False
    issue: int | None = None
    generation: int | None = None
    text: str = ""
    cause: str = ""  # of a claim or release: the kind of its cause; of presence: BEGAN
    via: str = ""  # the session that wrote it: "claude 1a2b3c4d"

    @property
    def by(self) -> Actor:
        """Who did it."""
        return Actor(self.actor, self.is_person)

    @property
    def kind(self) -> EventKind:
        """What readers know of its kind."""
        return kind_of(self.event, STOPPED if self.object == STOPPED else self.cause)

    @property
    def words(self) -> str:
        """What happened, without its text: `worker-1 closed #12`."""
        is_of_issue = self.issue is not None and self.kind.subject == "issue"
        about = f"#{self.issue}" if is_of_issue else file(self.object)
        return f"{named(*self.by)} {self.kind.verb} {about}"


class LedgerQuery(NamedTuple):
    """Which entries to select; None for all."""

    agent: str | None = None
    issues: frozenset[int] | None = None  # all numbers of one issue: it may have been renumbered
    event: str | None = None
    since: float | None = None  # seconds
    until: float | None = None


def message(record: Record, clock: int, clone: CloneId) -> str:
    """The commit message of a record. Every part is one line, so none can imitate another."""
    who, event = one_line(record.actor.name, 80), one_line(record.event, 80)
    trailers = [
        ("Event", event),
        ("Person" if record.actor.is_person else "Agent", who),
        ("Issue", record.issue),
        ("Generation", record.generation),
        ("Id", one_line(record.id, 200)),
        ("Cause", one_line(record.cause, 40) or None),
        ("Clock", clock),
        ("Clone", clone),
        ("Via", one_line(record.via, 40) or None),
    ]
    text = one_line(record.text, 200)
    return _message(f"{event} {who} {one_line(record.object, 80)}", text, trailers)


def presence_message(movements: Sequence[Movement], count: int, clock: int, clone: CloneId) -> str:
    """The commit message of a presence fold: `count` agents sent heartbeats, some changed."""
    if len(movements) == 1:
        only = movements[0]
        subject = f"{PRESENCE} {only.agent} {only.status}"
    else:
        subject = f"{PRESENCE} {clone} {count} agents"
    lines: list[tuple[str, object]] = [("Event", PRESENCE)]
    for move in movements:
        issue = move.issue if move.issue is not None else "-"
        lines.append(("Moved", f"{move.agent} {move.status} {issue} {one_line(move.action, 120)}"))
    lines += [("Began", move.agent) for move in movements if move.began]
    return _message(subject, "", [*lines, ("Clock", clock), ("Clone", clone)])


def _message(subject: str, text: str, trailers: Iterable[tuple[str, object]]) -> str:
    lines = "".join([f"{key}: {value}\n" for key, value in trailers if value is not None])
    return f"{subject}\n\n{text}\n\n{lines}" if text else f"{subject}\n\n{lines}"


def entries(oid: str, at: Timestamp, commit_message: str) -> list[LedgerEntry]:
    """The entries of a commit; none if it is not ours or broken."""
    subject, _, rest = commit_message.strip().partition("\n")
    paragraphs = rest.strip().split("\n\n")
    pairs = [line.partition(": ")[::2] for line in paragraphs[-1].splitlines()]
    trailers = dict(pairs)
    try:
        clock, event = int(trailers["Clock"]), trailers["Event"]
        clone = CloneId(trailers["Clone"])
        if event == PRESENCE:
            moves = [value for key, value in pairs if key == "Moved"]
            began = {value for key, value in pairs if key == "Began"}
            return [_moved(oid, at, clock, clone, value, began) for value in moves]
        actor = Actor(trailers.get("Agent") or trailers["Person"], "Person" in trailers)
        text = paragraphs[0] if len(paragraphs) > 1 else ""
        return [
            LedgerEntry(
                clock=clock,
                clone=clone,
                id=trailers.get("Id", oid),
                event=event,
                actor=actor.name,
                object=subject.removeprefix(f"{event} {actor.name} "),
                at=at,
                is_person=actor.is_person,
                issue=int(trailers["Issue"]) if "Issue" in trailers else None,
                generation=int(trailers["Generation"]) if "Generation" in trailers else None,
                text=text,
                cause=trailers.get("Cause") or legacy_causes.of_entry(event, text),
                via=trailers.get("Via", ""),
            )
        ]
    except (KeyError, ValueError):
        return []


def _moved(
    oid: str, at: Timestamp, clock: int, clone: CloneId, value: str, began: Collection[str]
) -> LedgerEntry:
    agent, status, issue, *action = value.split(" ", 3)
    return LedgerEntry(
        clock=clock,
        clone=clone,
        id=f"{oid}/{agent}",
        event=PRESENCE,
        actor=agent,
        object=status,
        at=at,
        issue=None if issue == "-" else int(issue),
        text=action[0] if action else "",
        cause=BEGAN if agent in began else "",
    )


def select(entries: Iterable[LedgerEntry], question: LedgerQuery) -> list[LedgerEntry]:
    """The entries that match a query, in ledger order."""
    return [entry for entry in entries if _fits(entry, question)]


def by_time(entries: Iterable[LedgerEntry]) -> list[LedgerEntry]:
    """Entries in the order of their own times, for people; those of one time in ledger order. One
    whose time cannot be read stays behind its predecessor."""
    timed: list[tuple[float, LedgerEntry]] = []
    for entry in entries:
        try:
            at = to_seconds(entry.at)
        except (ValueError, OverflowError):
            at = timed[-1][0] if timed else 0.0
        timed.append((at, entry))
    return [entry for _, entry in sorted(timed, key=lambda pair: pair[0])]


def check_event(event: str, entries: Iterable[LedgerEntry]) -> None:
    """Check that an event exists: one of ours, or one that another version wrote. Raises
    UsageError."""
    import difflib

    events = sorted({*EVENTS, *(entry.event for entry in entries)})
    if event in events:
        return
    alike = difflib.get_close_matches(event[:40], events, n=1, cutoff=0.6)
    meant = f"Did you mean {alike[0]}? " if alike else ""
    raise UsageError(
        f"There is no event {one_line(event, 40)!r}.", hint=f"{meant}Known: {', '.join(events)}."
    )


def decode_cursor(value: Any) -> Cursor:
    """A cursor from JSON, as which it is a list of lists. Raises what Python raises for a wrong
    type."""
    return tuple(
        Tip(CloneId(str(clone)), str(oid), int(clock), Timestamp(str(at)))
        for clone, oid, clock, at in value
    )


class LedgerReader:
    """Reads the ledger from a cursor on. Another reader can continue at `cursor`."""

    def __init__(self, store: "StateStore", cursor: Cursor = ()) -> None:
        self._store, self.cursor = store, cursor
        self._ids: set[str] = set()

    def read(self) -> list[LedgerEntry]:
        """What came since the cursor, in ledger order; then the cursor is behind it."""
        before, self.cursor = self.cursor, tuple(sorted(self._store.snapshot().tips()))
        entries = self._store.ledger(before) if self.cursor != before else []
        # A compacted history comes again as a whole.
        fresh = [entry for entry in entries if entry.id not in self._ids]
        self._ids.update(entry.id for entry in fresh)
        return fresh


def _fits(entry: LedgerEntry, question: LedgerQuery) -> bool:
    return (
        (question.agent is None or entry.actor == question.agent)
        and (question.issues is None or entry.issue in question.issues)
        and (question.event is None or entry.event == question.event)
        and (question.since is None or to_seconds(entry.at) >= question.since)
        and (question.until is None or to_seconds(entry.at) <= question.until)
    )
