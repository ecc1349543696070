"""An event of a local pull request, and its file.

The file is `.ghp/pulls/<pull>/<record>.json`, so two writers never write the same one.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, NotRequired, TypedDict

from ghp_agents.core.fields import as_line, as_text, as_whole, dump, ids_in, is_oid, parse
from ghp_agents.core.ids import Actor, CloneId, Timestamp, one_line
from ghp_agents.pulls.pull import Pull
from ghp_agents.state.codec import EventFields, event_fields, ledger_record, read_provenance
from ghp_agents.state.record import PULLS, Record

FOLDER = PULLS
KINDS = ("open", "change", "merge")
TEXTS = ("base", "head", "title", "body", "state")  # the last value wins
LINES = ("branch", "mergedAs")

PATHS = 500  # of a merge, at most

_NONE: Mapping[str, Any] = {}


class PullEvent(NamedTuple):
    """One record. `fields` holds only the fields that it sets."""

    pull: str
    id: str
    kind: str
    clock: int
    clone: CloneId
    at: Timestamp
    by: Actor
    number: int | None = None  # of open
    fields: Mapping[str, Any] = _NONE

    @property
    def path(self) -> str:
        """The path in the state's tree."""
        return f"{FOLDER}{self.pull}/{self.id}.json"


class PullFields(TypedDict, total=False):
    """The fields that a record sets; the last value wins."""

    base: str
    head: str
    title: str
    body: str
    state: str
    branch: str
    mergedAs: str
    issue: int
    draft: bool
    paths: list[str]


class PullFile(EventFields):
    """An event of a local pull request."""

    set: PullFields
    number: NotRequired[int]


def encode(event: PullEvent) -> bytes:
    """Return the record's file."""
    number = {} if event.number is None else {"number": event.number}
    return dump({**event_fields(event), "set": event.fields, **number})


def entry(event: PullEvent, pull: Pull, text: str) -> Record:
    """Return the record for the state store."""
    kind, line = f"pull-{event.kind}", one_line(text, 200)
    about, files = f"#{pull.number}", [(event.path, encode(event))]
    return ledger_record(event, kind, about, files, issue=pull.issue, text=line)


def decode(path: str, data: bytes) -> PullEvent | None:
    """Reverse `encode`; None for a kind of a newer version. Raises ValueError."""
    pull, record = ids_in(path, FOLDER, "pull")
    fields = parse(data)
    if fields.get("kind") not in KINDS:
        return None
    if fields.get("clock") is None:
        fields["clock"] = 0
    return PullEvent(
        pull=pull,
        id=record,
        kind=fields["kind"],
        **read_provenance(fields),
        number=_whole(fields, "number"),
        fields=_checked(fields.get("set", {})),
    )


def _checked(fields: Any) -> dict[str, Any]:
    if not isinstance(fields, dict):
        raise ValueError("'set' is not an object")
    checked: dict[str, Any] = {}
    for name in (*TEXTS, *LINES):
        if name in fields:
            checked[name] = (as_text if name == "body" else as_line)(fields[name], name)
    for name in ("head", "mergedAs"):
        if name in checked and not is_oid(checked[name]):
            raise ValueError(f"{name!r} is not a commit")
    if checked.get("state", "open") not in ("open", "closed"):
        raise ValueError("'state' is neither open nor closed")
    issue = _whole(fields, "issue")
    checked |= {} if issue is None else {"issue": issue}
    paths = fields.get("paths")
    if isinstance(paths, list):
        checked["paths"] = [as_text(path, "paths") for path in paths[:PATHS]]
    return checked | ({"draft": fields["draft"] is True} if "draft" in fields else {})


def _whole(fields: Mapping[str, Any], name: str) -> int | None:
    value = fields.get(name)
    return None if value is None else as_whole(value, name)
