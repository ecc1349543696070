"""What the records of all nouns share: provenance, order, and reading and writing their files."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Generic, NamedTuple, TypedDict, TypeVar

from ghp_agents.core.clock import to_seconds
from ghp_agents.core.declared import Name, Read
from ghp_agents.core.fields import any_count, any_text, as_actor, as_line, as_whole
from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.state.record import Problem, Record, problem_of

T = TypeVar("T")
E = TypeVar("E", bound=Any)

_ANY_PATH = re.compile("(.*)", re.DOTALL)


# Who wrote a record, and when: by a clock, by the Lamport clock, and in which clone.
By = Annotated[
    Actor,
    Name("by", "person"),
    Read(lambda pair, name: Actor(as_line(pair[0], name), pair[1] is True)),
]
At = Annotated[Timestamp, Read(as_line)]
CheckedBy = Annotated[
    Actor,
    Name("by", "person"),
    Read(lambda pair, name: as_actor(as_line(pair[0], name), pair[1])),
]
Clock = Annotated[int, Read(as_whole)]
Clone = Annotated[CloneId, Read(as_line)]


class Provenance(NamedTuple):
    """Who wrote a record, and when: by a clock, by the Lamport clock, and in which clone."""

    by: Actor
    at: Timestamp
    clock: int
    clone: CloneId


class ProvenanceFields(TypedDict):
    """Who wrote a record, in its file."""

    by: str
    person: bool
    at: str
    clock: int
    clone: str


class EventLog(NamedTuple, Generic[E]):
    """The readable events of one noun."""

    events: tuple[E, ...] = ()
    subjects: frozenset[str] = frozenset()  # ids that have an event, readable or not
    problems: tuple[Problem, ...] = ()

    @property
    def clock(self) -> int:
        """The highest clock of any event; the next one takes a higher clock, so it wins."""
        return max((event.clock for event in self.events), default=0)

    @property
    def numbers(self) -> frozenset[int]:
        """All numbers that were ever allocated."""
        return frozenset(event.number for event in self.events if event.number)

    def with_one(self, event: E) -> "EventLog[E]":
        """The log with one more event."""
        return self._replace(events=(*self.events, event))


def any_provenance(
    meta: Mapping[str, Any], line: Callable[[object], str] = any_text
) -> dict[str, Any]:
    """The provenance in front matter, as arguments. Raises ValueError without a good author."""
    by = line(meta.get("by"))
    if not by.strip():
        raise ValueError("it does not say who wrote it")
    return Provenance(
        by=as_actor(by, meta.get("person")),
        at=Timestamp(line(meta.get("at"))),
        clock=any_count(meta.get("clock")),
        clone=CloneId(line(meta.get("clone"))),
    )._asdict()


def written_provenance(record: Any) -> ProvenanceFields:
    """The fields of a record's provenance."""
    return {
        "by": record.by.name,
        "person": record.by.is_person,
        "at": record.at,
        "clock": record.clock,
        "clone": record.clone,
    }


def order(record: Any) -> tuple[int, str, str]:
    """The total order of records: each follows those that its writer knew."""
    return record.clock, record.clone, record.id


def ledger_record(
    entry: Any, event: str, about: str, files: Iterable[tuple[str, bytes]], **more: Any
) -> Record:
    """A record in the state's form; `event` is the ledger's name for it."""
    return Record(event, entry.by, about, entry.id, entry.at, entry.clock, tuple(files), **more)


def read_files(
    files: Mapping[str, bytes],
    decode: Callable[..., T | None],
    path: re.Pattern[str] = _ANY_PATH,
    what: str = "",
) -> tuple[list[T], list[Problem]]:
    """The records in files of the state, and what could not be read, which hides nothing else.

    `decode` gets the groups of `path` and the content. It returns None for what this version does
    not know and raises ValueError for what is wrong. Files with other paths are ignored.
    """
    records: list[T] = []
    problems: list[Problem] = []
    for name, content in files.items():
        if place := path.fullmatch(name):
            try:
                record = decode(*place.groups(), content)
            except ValueError as error:
                problems.append(problem_of(name, error, what))
                continue
            if record is not None:
                records.append(record)
    return records, problems


def seconds(at: Timestamp) -> float:
    """A time in seconds; an unreadable time, e.g. edited by hand, is 0: long past."""
    try:
        return to_seconds(at)
    except (ValueError, OverflowError):
        return 0.0


def readable(decode: Callable[..., T | None], *parts: Any) -> T | None:
    """A decoded record; None if this version cannot read it."""
    try:
        return decode(*parts)
    except ValueError:
        return None
