"""A record of a local issue: one event, and its file format.

The file is `.ghp/issues/<issue>/<record>.json`, so no two writers ever write the same file.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, NamedTuple, TypedDict

from ghp_agents.core.declared import HIDDEN, OPTIONAL, Name, Read, Written, decoded, plain
from ghp_agents.core.fields import (
    Line,
    Text,
    as_id,
    as_line,
    as_text,
    as_whole,
    dump,
    ids_in,
    parse,
)
from ghp_agents.core.ids import IssueNumber, one_line
from ghp_agents.core.metadata import Metadata, as_metadata, as_object
from ghp_agents.issues.issue import NO_CHANGE, Issue, IssueChange, short
from ghp_agents.state.codec import At, By, Clock, Clone, ledger_record
from ghp_agents.state.record import Record

FOLDER = ".ghp/issues/"
KINDS = ("create", "change", "comment", "number")
TEXTS = ("title", "body", "state", "priority", "parent", "metadata")  # the last value wins
SETS = ("labels", "assignees", "blockedBy")  # the last add or remove of each element wins

Elements = Mapping[str, tuple[str, ...]]  # by the name of the set
_NONE: Mapping[str, Any] = {}


class IssueTextFields(TypedDict, total=False):
    """The texts that a record sets; the last value wins."""

    title: str
    body: str
    state: str
    priority: str
    parent: str | None
    metadata: dict[str, Any]


class IssueSetFields(TypedDict, total=False):
    """Elements of an issue's sets. Blockers are named by their ids."""

    labels: list[str]
    assignees: list[str]
    blockedBy: list[str]


def _texts(value: object, name: str) -> dict[str, str | None]:
    fields, texts = _object(value, name), dict[str, str | None]()
    for name in TEXTS:
        if name == "parent" and name in fields:
            texts[name] = None if fields[name] is None else as_id(as_text(fields[name], name))
        elif name == "metadata" and name in fields:
            texts[name] = as_metadata(fields[name])
        elif name in fields:
            texts[name] = (as_text if name == "body" else as_line)(fields[name], name)
    return texts


def _elements(value: object, name: str) -> Elements:
    fields, sets = _object(value, name), dict[str, tuple[str, ...]]()
    for name in SETS:
        if name not in fields:
            continue
        if not isinstance(fields[name], list):
            raise ValueError(f"{name!r} is not a list")
        lines = (as_line(element, name) for element in fields[name])
        sets[name] = tuple(as_id(line) if name == "blockedBy" else line for line in lines)
    return sets


def _object(value: object, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{name!r} is not an object")
    return value


def _written(texts: Mapping[str, str | None]) -> Mapping[str, Any]:
    line = texts.get("metadata")
    return texts if line is None else {**texts, "metadata": as_object(Metadata(line))}


_TEXTS = Written(_written, IssueTextFields)
_SETS = Written(lambda sets: {name: x for name, x in sets.items() if x}, IssueSetFields)


class IssueEvent(NamedTuple):
    """An event of an issue."""

    # It refers to other issues by their ids, which never change.
    issue: Annotated[str, HIDDEN]
    id: Annotated[str, HIDDEN]
    kind: Line
    clock: Clock
    clone: Clone
    at: At
    by: By
    # Of create and number.
    number: Annotated[int | None, Read(as_whole), OPTIONAL] = None
    texts: Annotated[Mapping[str, str | None], Name("set"), Read(_texts), _TEXTS, OPTIONAL] = _NONE
    added: Annotated[Elements, Name("add"), Read(_elements), _SETS, OPTIONAL] = _NONE
    removed: Annotated[Elements, Name("remove"), Read(_elements), _SETS, OPTIONAL] = _NONE
    body: Annotated[Text, OPTIONAL] = ""  # of comment
    marker: Annotated[Text, OPTIONAL] = ""

    @property
    def path(self) -> str:
        """The record's path in the state's tree."""
        return f"{FOLDER}{self.issue}/{self.id}.json"


def encode(event: IssueEvent) -> bytes:
    """The record as a file."""
    return dump(plain(event))


def spelled(event: IssueEvent, change: IssueChange, issues: Iterable[Issue]) -> IssueEvent:
    """The record with a change, which refers to issues by their ids."""
    ids = {issue.number: issue.id for issue in issues}
    texts: dict[str, str | None] = {
        "title": change.title,
        "body": change.body,
        "state": change.state,
        "priority": change.priority,
        "parent": None if change.parent is None else ids[change.parent],
        "metadata": change.metadata,
    }
    changed = {name: text for name, text in texts.items() if text is not None}
    return event._replace(
        texts=changed | ({"parent": None} if change.no_parent else {}),
        added=_named(change.add_labels, change.add_assignees, change.add_blockers, ids),
        removed=_named(change.remove_labels, change.remove_assignees, change.remove_blockers, ids),
    )


def _named(
    labels: tuple[str, ...],
    assignees: tuple[str, ...],
    blockers: tuple[IssueNumber, ...],
    ids: Mapping[IssueNumber, str],
) -> Elements:
    blocked_by = tuple(ids[number] for number in blockers)
    sets = {"labels": labels, "assignees": assignees, "blockedBy": blocked_by}
    return {name: elements for name, elements in sets.items() if elements}


def entry(event: IssueEvent, kind: str, issue: Issue, text: str) -> Record:
    """The record in the state's form; `kind` is the ledger's name for the event."""
    files, line = [(event.path, encode(event))], one_line(text, 200)
    return ledger_record(event, kind, short(issue), files, issue=issue.number, text=line)


def event_of(change: IssueChange) -> str:
    """The ledger's name for a change."""
    if change.state is not None:
        return "issue-close" if change.state == "closed" else "issue-reopen"
    parts = {
        "issue-assign": change._replace(add_assignees=(), remove_assignees=()),
        "issue-block": change._replace(add_blockers=(), remove_blockers=()),
    }
    return next((event for event, rest in parts.items() if rest == NO_CHANGE), "issue-edit")


def described(change: IssueChange) -> str:
    """A short description of a change, for the ledger."""
    parts = [
        f"{name}: {value}"
        for name, value in (("title", change.title), ("priority", change.priority))
        if value is not None
    ]
    parts += ["body"] if change.body is not None else []
    parts += ["metadata"] if change.metadata is not None else []
    parts += [f"part of #{change.parent}"] if change.parent is not None else []
    parts += ["part of nothing"] if change.no_parent else []
    parts += [f"+{word}" for word in (*change.add_labels, *change.add_assignees)]
    parts += [f"-{word}" for word in (*change.remove_labels, *change.remove_assignees)]
    parts += [f"blocked by #{number}" for number in change.add_blockers]
    parts += [f"not blocked by #{number}" for number in change.remove_blockers]
    return ", ".join(parts)


def decode(path: str, data: bytes) -> IssueEvent | None:
    """The reverse of `encode`; None for a kind of a newer version. Raises ValueError."""
    issue, record = ids_of(path)
    fields = {"clock": 0, **parse(data)}
    if as_line(fields.get("kind"), "kind") not in KINDS:
        return None
    return decoded(IssueEvent, fields, issue=issue, id=record)


def ids_of(path: str) -> tuple[str, str]:
    """The ids of issue and record in a path. Raises ValueError."""
    return ids_in(path, FOLDER, "issue")
