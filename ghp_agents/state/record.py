"""A record: written once by one writer, and listed in the ledger."""

import json
from typing import NamedTuple, NotRequired, TypedDict

from ghp_agents.core.ids import NUMBERS_END, Actor, Timestamp
from ghp_agents.core.schema_version import UPDATE, UnknownSchemaError, unversioned, versioned

NOTES, PULLS, HANDOFFS = (
    ".ghp/notes/",
    ".ghp/pulls/",
    ".ghp/handoffs/",
)  # where all clones keep these records
LAST = NUMBERS_END - 1  # the maximum clock


class Movement(NamedTuple):
    """What a presence commit records about one agent."""

    agent: str
    status: str
    issue: int | None
    action: str
    began: bool = False  # whether its life began: a new epoch


class Problem(NamedTuple):
    """Something unreadable in the state. It is kept, and never hides the rest."""

    place: str
    reason: str
    remedy: str = "It is kept but ignored. Its author can write it again."


def problem_of(place: str, error: Exception, what: str = "") -> Problem:
    """The problem with a record that could not be read."""
    if isinstance(error, UnknownSchemaError):
        return Problem(place, str(error), f"It is kept but ignored. {UPDATE}")
    return Problem(place, what + (str(error) or "nested too deep"))


class OutboxHeader(TypedDict):
    """The first line of a record in the outbox; the contents of its files follow."""

    event: str
    actor: str
    person: bool
    object: str
    id: str
    at: str
    clock: int
    issue: int | None
    generation: int | None
    text: str
    cause: str
    via: NotRequired[str]
    files: list[tuple[str, int]]


class Record(NamedTuple):
    """Files for the state, and the ledger entry that tells who added them and why.

    `files` are (path in the state's tree, content). Paths contain the record's own id, so two
    writers never write the same path. `clock` exceeds every clock that the writer has seen.
    """

    event: str  # a verb: escalate, answer, handoff, comment
    actor: Actor
    object: str  # what the event is about, for display: E-3f9a, #12
    id: str
    at: Timestamp
    clock: int
    files: tuple[tuple[str, bytes], ...]
    issue: int | None = None
    generation: int | None = None
    text: str = ""  # one line for people
    cause: str = ""  # of a claim or release: the kind of its cause
    via: str = ""  # the session that wrote it, if known

    def __repr__(self) -> str:
        return f"Record({self.event} {self.actor} {self.object}, id={self.id}, clock={self.clock})"


def highest(*clocks: int) -> int:
    """The highest of the seen clocks, but one below the maximum. If a clone's clock is at the
    maximum, later records share it and stay readable."""
    return min(max(clocks, default=0), LAST - 1)


def encode(record: Record) -> bytes:
    """A record as one outbox file: a line of JSON, then the contents in order."""
    header = {
        "event": record.event,
        "actor": record.actor.name,
        "person": record.actor.is_person,
        "object": record.object,
        "id": record.id,
        "at": record.at,
        "clock": record.clock,
        "issue": record.issue,
        "generation": record.generation,
        "text": record.text,
        "cause": record.cause,
        **({"via": record.via} if record.via else {}),
        "files": [[path, len(content)] for path, content in record.files],
    }
    line = json.dumps(versioned(header)).encode() + b"\n"
    return line + b"".join(content for _, content in record.files)


def decode(data: bytes) -> Record:
    """The reverse of `encode`. Raises ValueError if the file is torn or not a record."""
    line, end, body = data.partition(b"\n")
    if not end:
        raise ValueError("not a whole record: its first line has no end")
    try:
        header = unversioned(json.loads(line))
        sizes = [(str(path), int(size)) for path, size in header["files"]]
        if any(size < 0 for _, size in sizes):
            raise ValueError("not a record: a content of less than nothing")
        record = Record(
            event=str(header["event"]),
            actor=Actor(str(header["actor"]), bool(header["person"])),
            object=str(header["object"]),
            id=str(header["id"]),
            at=Timestamp(str(header["at"])),
            clock=int(header["clock"]),
            issue=_number(header["issue"]),
            generation=_number(header["generation"]),
            text=str(header["text"]),
            cause=str(header.get("cause", "")),
            via=str(header.get("via", "")),
            files=tuple(_cut(body, sizes)),
        )
    except (KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"not a record: {type(error).__name__}: {error}") from None
    if sum(size for _, size in sizes) != len(body):
        raise ValueError("not a whole record: its contents are cut off")
    return record


def _number(value: object) -> int | None:
    return None if value is None else int(str(value))


def _cut(body: bytes, sizes: list[tuple[str, int]]) -> list[tuple[str, bytes]]:
    parts: list[tuple[str, bytes]] = []
    start = 0
    for path, size in sizes:
        parts.append((path, body[start : start + size]))
        start += size
    return parts
