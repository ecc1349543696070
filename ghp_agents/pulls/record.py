"""An event of a local pull request, and its file.

The file is `.ghp/pulls/<pull>/<record>.json`, so two writers never write the same one.
"""

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple, TypedDict

from ghp_agents.core.declared import HIDDEN, OPTIONAL, Name, Read, Written, decoded, plain
from ghp_agents.core.fields import Line, as_line, as_text, as_whole, dump, ids_in, is_oid, parse
from ghp_agents.core.ids import one_line
from ghp_agents.pulls.pull import Pull
from ghp_agents.state.codec import At, By, Clock, Clone, ledger_record
from ghp_agents.state.record import PULLS, Record

FOLDER = PULLS
KINDS = ("open", "change", "merge")
TEXTS = ("base", "head", "title", "body", "state")  # the last value wins
LINES = ("branch", "mergedAs")

PATHS = 500  # of a merge, at most


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


def _checked(fields: Any, _: str) -> dict[str, Any]:
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
    issue = _whole(fields.get("issue"), "issue")
    checked |= {} if issue is None else {"issue": issue}
    paths = fields.get("paths")
    if isinstance(paths, list):
        checked["paths"] = [as_text(path, "paths") for path in paths[:PATHS]]
    return checked | ({"draft": fields["draft"] is True} if "draft" in fields else {})


def _whole(value: object, name: str) -> int | None:
    return None if value is None else as_whole(value, name)


_FIELDS = Written(lambda fields: fields, PullFields)


class PullEvent(NamedTuple):
    """An event of a local pull request."""

    pull: Annotated[str, HIDDEN]
    id: Annotated[str, HIDDEN]
    kind: Line
    clock: Clock
    clone: Clone
    at: At
    by: By
    # Only the fields that it sets.
    fields: Annotated[Mapping[str, Any], Name("set"), Read(_checked), _FIELDS]
    number: Annotated[int | None, Read(_whole), OPTIONAL] = None  # of open

    @property
    def path(self) -> str:
        """The path in the state's tree."""
        return f"{FOLDER}{self.pull}/{self.id}.json"


def encode(event: PullEvent) -> bytes:
    """Return the record's file."""
    return dump(plain(event))


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
    return decoded(PullEvent, {"set": {}, **fields}, pull=pull, id=record)
