"""A record of a local pull request: one thing that somebody said about it, and how it is a file.

The file is `.ghp/pulls/<pull>/<record>.json`, so that no two writers ever write the same one.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from ghp_agents.core.fields import as_line, as_text, as_whole, ids_in, parse
from ghp_agents.core.ids import Actor, CloneId, Timestamp, one_line
from ghp_agents.pulls.pull import Pull
from ghp_agents.state.record import PULLS, Record

FOLDER = PULLS
KINDS = ("open", "change", "merge")
TEXTS = ("base", "head", "title", "body", "state")  # the last one said holds
LINES = ("branch", "mergedAs")

_NONE: Mapping[str, Any] = {}
_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class PullEvent(NamedTuple):
    """One record. `fields` has what it says; what it says nothing of is not there."""

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
    def order(self) -> tuple[int, str, str]:
        """The one order of all records: what was known comes before what was said knowing it."""
        return self.clock, self.clone, self.id

    @property
    def path(self) -> str:
        """Where it is in the state's tree."""
        return f"{FOLDER}{self.pull}/{self.id}.json"


def encode(said: PullEvent) -> bytes:
    """A record as its file."""
    fields: dict[str, Any] = {
        "kind": said.kind,
        "clock": said.clock,
        "clone": said.clone,
        "at": said.at,
        "by": said.by.name,
        "person": said.by.is_person,
        "set": dict(said.fields),
    }
    if said.number is not None:
        fields["number"] = said.number
    return json.dumps(fields, indent=2, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def entry(said: PullEvent, pull: Pull, text: str) -> Record:
    """The record as the state takes it."""
    return Record(
        event=f"pull-{said.kind}",
        actor=said.by,
        object=f"#{pull.number}",
        id=said.id,
        at=said.at,
        clock=said.clock,
        files=((said.path, encode(said)),),
        issue=pull.issue,
        text=one_line(text, 200),
    )


def decode(path: str, data: bytes) -> PullEvent | None:
    """The reverse of `encode`; None for a kind that a newer version says. Raises ValueError."""
    pull, record = ids_in(path, FOLDER, "pull")
    fields = parse(data)
    if fields.get("kind") not in KINDS:
        return None
    return PullEvent(
        pull=pull,
        id=record,
        kind=fields["kind"],
        clock=_whole(fields, "clock") or 0,
        clone=CloneId(as_line(fields.get("clone"), "clone")),
        at=Timestamp(as_line(fields.get("at"), "at")),
        by=Actor(as_line(fields.get("by"), "by"), fields.get("person") is True),
        number=_whole(fields, "number"),
        fields=_checked(fields.get("set", {})),
    )


def _checked(said: Any) -> dict[str, Any]:
    if not isinstance(said, dict):
        raise ValueError("'set' is not an object")
    found: dict[str, Any] = {}
    for name in (*TEXTS, *LINES):
        if name in said:
            found[name] = (as_text if name == "body" else as_line)(said[name], name)
    for name in ("head", "mergedAs"):
        if name in found and not _OID.fullmatch(found[name]):
            raise ValueError(f"{name!r} is not a commit")
    if found.get("state", "open") not in ("open", "closed"):
        raise ValueError("'state' is neither open nor closed")
    issue = _whole(said, "issue")
    found |= {} if issue is None else {"issue": issue}
    return found | ({"draft": said["draft"] is True} if "draft" in said else {})


def _whole(fields: Mapping[str, Any], name: str) -> int | None:
    value = fields.get(name)
    return None if value is None else as_whole(value, name)
