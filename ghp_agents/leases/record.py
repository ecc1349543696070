"""A lease as records: a request, perhaps a grant, renewals, a release, each by who says it.

The files are `.ghp/leases/<lease>/<record>.json`. A right that holds over all clones (`--strict`)
has a request here, too, which names it.
"""

import functools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ghp_agents.core.clock import to_seconds
from ghp_agents.core.errors import UsageError
from ghp_agents.core.fields import ID, as_text, as_whole, parse
from ghp_agents.core.glob_paths import spelled_all
from ghp_agents.core.ids import Actor, CloneId, Timestamp, agent_name, digest, one_line
from ghp_agents.hotpath.quoting import file
from ghp_agents.leases.hold import Hold
from ghp_agents.state.join import Problem
from ghp_agents.state.record import Record

FOLDER = ".ghp/leases/"
REASON_LIMIT = 500
NAME_LIMIT = 64
KINDS = ("request", "grant", "renew", "release")
_PATH = re.compile(FOLDER.replace(".", r"\.") + rf"({ID})/({ID})\.json")
_NAME = re.compile(r"[a-z0-9]+(?:[._-]+[a-z0-9]+)*")  # as in the name of a right


class LeaseEvent(NamedTuple):
    """One record. What only some kinds have is empty in the others."""

    lease: str
    id: str
    kind: str
    clock: int
    clone: CloneId
    at: Timestamp
    by: Actor
    holder: Actor = Actor("")
    epoch: int = 0  # the holder's, when it asked; 0 for a person
    patterns: tuple[str, ...] = ()
    name: str | None = None
    until: Timestamp | None = None
    reason: str = ""  # of a request, or why it was released
    granted: bool = False
    approved_by: str = ""
    question: str = ""  # by which it was approved
    right: str = ""  # the right of a strict lease: path/…, name/…
    nonce: str = ""  # by which its holder has that right

    @property
    def order(self) -> tuple[int, str, str]:
        """The one order of all records: what was known comes before what was said knowing it."""
        return self.clock, self.clone, self.id

    @property
    def path(self) -> str:
        """Where it is in the state's tree."""
        return f"{FOLDER}{self.lease}/{self.id}.json"


class LeaseHistory(NamedTuple):
    """A lease: what its records come to."""

    request: LeaseEvent
    granted: LeaseEvent | None = None  # the request itself, where it was granted at once
    until: Timestamp | None = None
    released: LeaseEvent | None = None
    timed: LeaseEvent | None = None  # what gave it its present time

    @property
    def id(self) -> str:
        """The lease's id."""
        return self.request.lease

    @property
    def holder(self) -> Actor:
        """Who has it, or asks for it."""
        return self.request.holder

    @property
    def is_open(self) -> bool:
        """Whether it was not given back."""
        return self.released is None

    @property
    def is_waiting(self) -> bool:
        """Whether it stands in the queue."""
        return self.released is None and self.granted is None

    @property
    def nonce(self) -> str:
        """By which the holder has the right of a strict lease."""
        return self.granted.nonce if self.granted else ""

    @property
    def lasts(self) -> float | None:
        """The seconds that it is held for, from when that was said, by the clock of who said it;
        None for one without an end."""
        if self.timed is None or self.until is None:
            return None
        return max(0.0, to_seconds(self.until) - _seconds(self.timed.at))

    def is_over(self, clone: CloneId, now: float) -> bool:
        """Whether its time is up by the clock of the clone that granted it."""
        return (
            self.until is not None and self.request.clone == clone and to_seconds(self.until) <= now
        )

    def hold(self) -> Hold:
        """The lease as it counts while it is held."""
        asked = self.request
        return Hold(
            id=self.id,
            holder=asked.holder.name,
            is_person=asked.holder.is_person,
            patterns=asked.patterns,
            name=asked.name,
            since=(self.granted or asked).at,
            until=self.until,
            reason=asked.reason,
            approved=bool(asked.approved_by),
            strict=bool(asked.right),
        )


def _seconds(at: Timestamp) -> float:
    """A time; one that a hand wrote and nobody can read is long past."""
    try:
        return to_seconds(at)
    except (ValueError, OverflowError):
        return 0.0


def resource(text: str) -> str:
    """Check the name of a resource that is no path. Raises UsageError."""
    if not _NAME.fullmatch(text) or len(text) > NAME_LIMIT or ".." in text:
        raise UsageError(
            f"{one_line(text.encode('utf-8', 'replace').decode(), 60)!r} is not a name for a "
            "resource.",
            hint=f"Use a-z, 0-9, '.', '_', '-', at most {NAME_LIMIT}: staging-db, port-8080.",
        )
    return text


def what(patterns: Sequence[str], name: str | None, limit: int = 3) -> str:
    """What a lease is of, for people."""
    if name is not None:
        return file(name)
    shown = [file(at_root(pattern)) for pattern in patterns[:limit]]
    more = len(patterns) - limit
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def at_root(pattern: str) -> str:
    """A pattern as people would say it at the root, so that it means the same there."""
    place = pattern.removeprefix("/")
    return place if "/" in place.rstrip("/") else pattern


# -------------------------------------------------------------------------------- writing


def follow(
    said: LeaseEvent, kind: str, by: Actor, at: Timestamp, clock: int, clone: CloneId
) -> LeaseEvent:
    """What `by` says about the lease of a request."""
    identity = digest(said.lease, kind, by.name, str(by.is_person), str(clock), clone)
    return LeaseEvent(said.lease, identity, kind, clock, clone, at, by)


def entry(said: LeaseEvent, request: LeaseEvent) -> Record:
    """A record of the lease of `request`, as the state takes it."""
    events = {"request": "lease" if said.granted else "lease-wait", "grant": "lease"}
    place = what(request.patterns, request.name)
    return Record(
        event=events.get(said.kind, f"lease-{said.kind}"),
        actor=said.by,
        object=f"L-{said.lease}",
        id=said.id,
        at=said.at,
        clock=said.clock,
        files=((said.path, encode(said)),),
        text=one_line(f"{place}: {said.reason}" if said.reason else place, 200),
    )


def encode(said: LeaseEvent) -> bytes:
    """A record as its file."""
    fields: dict[str, Any] = {
        "kind": said.kind,
        "clock": said.clock,
        "clone": said.clone,
        "at": said.at,
        "by": said.by.name,
        "person": said.by.is_person,
        "holder": said.holder.name,
        "holderIsPerson": said.holder.is_person,
        "epoch": said.epoch,
        "patterns": list(said.patterns),
        "name": said.name,
        "until": said.until,
        "reason": said.reason,
        "granted": said.granted,
        "approvedBy": said.approved_by,
        "question": said.question,
        "right": said.right,
        "nonce": said.nonce,
    }
    always = ("kind", "clock", "clone", "at", "by", "person")
    kept = {key: value for key, value in fields.items() if value or key in always}
    return json.dumps(kept, indent=2, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


# -------------------------------------------------------------------------------- reading


def read_leases(files: Mapping[str, bytes]) -> tuple[list[LeaseHistory], list[Problem]]:
    """The leases in files of the state, in the order of their requests, and what could not be
    read. Files and kinds that we do not know are none of ours."""
    problems: list[Problem] = []
    said: dict[str, list[LeaseEvent]] = {}
    for path, data in files.items():
        found = _PATH.fullmatch(path)
        try:
            each = decode(found[1], found[2], data) if found else None
        except ValueError as error:
            problems.append(Problem(path, str(error)))
            continue
        if each is not None:
            said.setdefault(each.lease, []).append(each)
    logs = [log for each in said.values() if (log := fold(each))]
    return sorted(logs, key=lambda log: log.request.order), problems


def fold(said: Sequence[LeaseEvent]) -> LeaseHistory | None:
    """What the records of one lease come to; None without a request, which may come later."""
    ordered = sorted(said, key=lambda each: each.order)
    first: dict[str, LeaseEvent] = {}
    for each in ordered:
        first.setdefault(each.kind, each)
    request = first.get("request")
    if request is None:
        return None
    granted = request if request.granted else first.get("grant")
    timed = granted if granted and granted.until else None
    for each in ordered:
        if each.kind == "renew":
            timed = each if each.until else None
    until = timed.until if timed else None
    return LeaseHistory(request, granted, until, first.get("release"), timed)


@functools.lru_cache(maxsize=65_536)  # one command reads all leases several times
def decode(lease: str, identity: str, data: bytes) -> LeaseEvent | None:
    """The reverse of `encode`; None for a kind that a newer version says. Raises ValueError."""
    fields = parse(data)
    kind = _line(fields, "kind")
    if kind not in KINDS:
        return None
    said = LeaseEvent(
        lease=lease,
        id=identity,
        kind=kind,
        clock=as_whole(fields.get("clock"), "clock"),
        clone=CloneId(_line(fields, "clone")),
        at=Timestamp(_line(fields, "at")),
        by=_actor(_line(fields, "by"), fields.get("person")),
        holder=_actor(_line(fields, "holder", ""), fields.get("holderIsPerson")),
        epoch=as_whole(fields.get("epoch", 0), "epoch"),
        patterns=_patterns(fields.get("patterns", [])),
        name=_line(fields, "name", "") or None,
        until=_until(_line(fields, "until", "")),
        reason=one_line(_line(fields, "reason", ""), REASON_LIMIT),
        granted=fields.get("granted") is True,
        approved_by=_line(fields, "approvedBy", ""),
        question=_line(fields, "question", ""),
        right=_line(fields, "right", ""),
        nonce=_line(fields, "nonce", ""),
    )
    if kind == "request" and not (said.holder.name and (said.patterns or said.name)):
        raise ValueError("a request by nobody, or of nothing")
    return said


def _actor(name: str, is_person: object) -> Actor:
    if name and is_person is not True:
        try:
            agent_name(name)
        except UsageError as error:
            raise ValueError(str(error)) from None
    return Actor(name, is_person is True)


def _line(fields: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """A line with all its spaces, for names are compared; what must be there says something."""
    value = fields.get(name, default)
    text = as_text(default if value == "" else value, name)
    return text if text.isprintable() else one_line(text, len(text) + 1)


def _patterns(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
        raise ValueError("'patterns' is not a list of patterns")
    try:
        return spelled_all(value)
    except UsageError as error:
        raise ValueError(str(error)) from None


def _until(text: str) -> Timestamp | None:
    if text:
        to_seconds(text)
    return Timestamp(text) if text else None
