"""A lease as records: a request, perhaps a grant, renewals and a release, each with its author.

The files are `.ghp/leases/<lease>/<record>.json`. A strict lease also has a request here, which
names its lock.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple, TypedDict

from ghp_agents.core.clock import to_seconds
from ghp_agents.core.declared import HIDDEN, OPTIONAL, Name, Read, decoded, plain
from ghp_agents.core.errors import UsageError
from ghp_agents.core.fields import ID, Flag, Whole, as_actor, as_text, dump, parse
from ghp_agents.core.glob_paths import spelled_all
from ghp_agents.core.ids import Actor, CloneId, Timestamp, digest, one_line
from ghp_agents.hotpath.quoting import file
from ghp_agents.leases.hold import Hold
from ghp_agents.state.codec import (
    Clock,
    ledger_record,
    order,
    read_files,
    readable,
    seconds,
)
from ghp_agents.state.join import Settled
from ghp_agents.state.record import Problem, Record

FOLDER = ".ghp/leases/"
REASON_LIMIT = 500
NAME_LIMIT = 64
KINDS = ("request", "grant", "renew", "release")
_PATH = re.compile(FOLDER.replace(".", r"\.") + rf"({ID})/({ID})\.json")
_NAME = re.compile(r"[a-z0-9]+(?:[._-]+[a-z0-9]+)*")  # as in the name of a lock


def path_of(lease: str, event: str = "") -> str:
    """The path of a record of a lease; by default of the one that asks for it."""
    return f"{FOLDER}{lease}/{event or lease}.json"


def _line(value: object, name: str) -> str:
    """A line with all its spaces, because names are compared."""
    text = as_text(value, name)
    return text if text.isprintable() else one_line(text, len(text) + 1)


def _required(value: object, name: str) -> str:
    return _line(None if value == "" else value, name)


def _holder(pair: tuple[object, object], name: str) -> Actor:
    holder = _line(pair[0], name)
    return as_actor(holder, pair[1]) if holder else Actor("", pair[1] is True)


def _patterns(value: object, _: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
        raise ValueError("'patterns' is not a list of patterns")
    try:
        return spelled_all(value)
    except UsageError as error:
        raise ValueError(str(error)) from None


def _until(value: object, name: str) -> Timestamp | None:
    text = _line(value, name)
    if text:
        to_seconds(text)
    return Timestamp(text) if text else None


_Word = Annotated[str, Read(_line), OPTIONAL]
_BY = Read(lambda pair, name: as_actor(_required(pair[0], name), pair[1]))


class LeaseEvent(NamedTuple):
    """An event of a lease."""

    lease: Annotated[str, HIDDEN]
    id: Annotated[str, HIDDEN]
    kind: Annotated[str, Read(_required)]
    clock: Clock
    clone: Annotated[CloneId, Read(_required)]
    at: Annotated[Timestamp, Read(_required)]
    by: Annotated[Actor, Name("by", "person"), _BY]
    # Fields that a kind does not use are empty.
    holder: Annotated[Actor, Name("holder", "holderIsPerson"), Read(_holder), OPTIONAL] = Actor("")
    epoch: Annotated[Whole, OPTIONAL] = 0  # of the holder at the request; 0 for a person
    patterns: Annotated[tuple[str, ...], Read(_patterns), OPTIONAL] = ()
    name: Annotated[str | None, Read(lambda x, name: _line(x, name) or None), OPTIONAL] = None
    until: Annotated[Timestamp | None, Read(_until), OPTIONAL] = None
    # Of a request, or why it was released.
    reason: Annotated[_Word, Read(lambda x, name: one_line(_line(x, name), REASON_LIMIT))] = ""
    granted: Annotated[Flag, OPTIONAL] = False
    approved_by: _Word = ""
    question: _Word = ""  # the escalation that approved it
    right: _Word = ""  # the lock of a strict lease: path/…, name/…
    nonce: _Word = ""  # of the holder's acquisition of that lock

    @property
    def path(self) -> str:
        """The record's path in the state's tree."""
        return path_of(self.lease, self.id)


class LeaseHistory(NamedTuple):
    """A lease: the result of its records."""

    request: LeaseEvent
    granted: LeaseEvent | None = None  # the request itself, if it was granted at once
    until: Timestamp | None = None
    released: LeaseEvent | None = None
    timed: LeaseEvent | None = None  # the record that set `until`

    @property
    def id(self) -> str:
        """The lease's id."""
        return self.request.lease

    @property
    def holder(self) -> Actor:
        """The one who holds or requests it."""
        return self.request.holder

    @property
    def is_open(self) -> bool:
        """Whether it was not released."""
        return self.released is None

    @property
    def is_waiting(self) -> bool:
        """Whether it is in the queue."""
        return self.released is None and self.granted is None

    @property
    def nonce(self) -> str:
        """The nonce of the lock of a strict lease."""
        return self.granted.nonce if self.granted else ""

    @property
    def lasts(self) -> float | None:
        """The TTL in seconds, by the clock of the record's writer; None without an end."""
        if self.timed is None or self.until is None:
            return None
        return max(0.0, to_seconds(self.until) - seconds(self.timed.at))

    def is_over(self, clone: CloneId, now: float) -> bool:
        """Whether it has expired by the clock of the clone that granted it."""
        return (
            self.until is not None and self.request.clone == clone and to_seconds(self.until) <= now
        )

    def hold(self) -> Hold:
        """The lease as a hold."""
        request = self.request
        return Hold(
            id=self.id,
            holder=request.holder.name,
            is_person=request.holder.is_person,
            patterns=request.patterns,
            name=request.name,
            since=(self.granted or request).at,
            until=self.until,
            reason=request.reason,
            approved=bool(request.approved_by),
            strict=bool(request.right),
        )


def resource(text: str) -> str:
    """Check the name of a resource that is not a path. Raises UsageError."""
    if not _NAME.fullmatch(text) or len(text) > NAME_LIMIT or ".." in text:
        raise UsageError(
            f"{one_line(text.encode('utf-8', 'replace').decode(), 60)!r} is not a valid "
            "resource name.",
            hint=f"Use at most {NAME_LIMIT} characters of a-z, 0-9, '.', '_' and '-', e.g. "
            "staging-db or port-8080.",
        )
    return text


def what(patterns: Sequence[str], name: str | None, limit: int = 3) -> str:
    """The subject of a lease, for people."""
    if name is not None:
        return file(name)
    shown = [file(at_root(pattern)) for pattern in patterns[:limit]]
    more = len(patterns) - limit
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def at_root(pattern: str) -> str:
    """A pattern as people would type it at the root, with the same meaning there."""
    place = pattern.removeprefix("/")
    return place if "/" in place.rstrip("/") else pattern


def follow(
    request: LeaseEvent, kind: str, by: Actor, at: Timestamp, clock: int, clone: CloneId
) -> LeaseEvent:
    """A record by `by` about the lease of a request."""
    identity = digest(request.lease, kind, by.name, str(by.is_person), str(clock), clone)
    return LeaseEvent(request.lease, identity, kind, clock, clone, at, by)


def entry(event: LeaseEvent, request: LeaseEvent) -> Record:
    """A record of the lease of `request`, in the state's form."""
    events = {"request": "lease" if event.granted else "lease-wait", "grant": "lease"}
    place = what(request.patterns, request.name)
    kind = events.get(event.kind, f"lease-{event.kind}")
    text = one_line(f"{place}: {event.reason}" if event.reason else place, 200)
    files = [(event.path, encode(event))]
    return ledger_record(event, kind, f"L-{event.lease}", files, text=text)


class ImplicitLeaseFile(TypedDict):
    """An implicit lease in a clone. `hotpath/` writes it and cannot import this."""

    agent: str
    epoch: int
    since: str
    path: str
    gitDir: str


def encode(event: LeaseEvent) -> bytes:
    """The record as a file."""
    return dump(plain(event))


def read_leases(files: Mapping[str, bytes]) -> tuple[list[LeaseHistory], list[Problem]]:
    """The leases in files of the state, in the order of their requests, and what could not be
    read. Unknown files and kinds are ignored."""
    records, problems = read_files(files, decode, _PATH)
    by_lease: dict[str, list[LeaseEvent]] = {}
    for event in records:
        by_lease.setdefault(event.lease, []).append(event)
    logs = [log for events in by_lease.values() if (log := fold(events))]
    return sorted(logs, key=lambda log: order(log.request)), problems


def settled(files: Mapping[str, bytes], before: float) -> list[Settled]:
    """The leases that were released before a time in seconds. Not those with a record that this
    version cannot read, and no strict ones: their locks refer to them."""
    groups: dict[str, list[tuple[str, LeaseEvent | None]]] = {}
    for path, data in files.items():
        if place := _PATH.fullmatch(path):
            groups.setdefault(place[1], []).append((path, readable(decode, *place.groups(), data)))
    ended: list[Settled] = []
    for group in groups.values():
        events = [event for _, event in group if event]
        log = fold(events) if len(events) == len(group) else None
        is_over = log and log.released and not log.request.right
        if is_over and all(seconds(event.at) < before for event in events):
            ends = frozenset(event.path for event in events if event.kind == "release")
            ended.append(Settled(frozenset(path for path, _ in group) - ends, ends))
    return ended


def fold(events: Sequence[LeaseEvent]) -> LeaseHistory | None:
    """The result of one lease's records; None without a request, which may arrive later."""
    ordered = sorted(events, key=order)
    first: dict[str, LeaseEvent] = {}
    for event in ordered:
        first.setdefault(event.kind, event)
    request = first.get("request")
    if request is None:
        return None
    granted = request if request.granted else first.get("grant")
    timed = granted if granted and granted.until else None
    for event in ordered:
        if event.kind == "renew":
            timed = event if event.until else None
    until = timed.until if timed else None
    return LeaseHistory(request, granted, until, first.get("release"), timed)


@functools.lru_cache(maxsize=65_536)  # one command reads all leases several times
def decode(lease: str, identity: str, data: bytes) -> LeaseEvent | None:
    """The reverse of `encode`; None for a kind of a newer version. Raises ValueError."""
    fields = parse(data)
    if _required(fields.get("kind"), "kind") not in KINDS:
        return None
    event = decoded(LeaseEvent, fields, lease=lease, id=identity)
    if event.kind == "request" and not (event.holder.name and (event.patterns or event.name)):
        raise ValueError("a request without a holder, patterns or name")
    return event
