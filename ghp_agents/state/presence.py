"""Presence: what an agent reports of itself, and how several clones' reports are joined.

A presence is a plain mapping, so that fields of newer versions survive.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypedDict, get_type_hints

from ghp_agents.core.ids import NUMBERS_END, one_line
from ghp_agents.core.metadata import any_metadata, as_object
from ghp_agents.core.schema_version import KEY, VERSION, versioned
from ghp_agents.hotpath import heartbeat
from ghp_agents.state import changes, usage
from ghp_agents.state.changes import ChangedFields
from ghp_agents.state.record import Movement
from ghp_agents.state.usage import UsageFields

PATH = ".ghp/agent-status.json"
METADATA = "metadata"  # the field, an object
LEAP = 1_000_000  # epochs; no agent restarts that often between two reports


class AgentFields(TypedDict, total=False):
    """What an agent reports of itself. Newer versions may report more."""

    issue: int | None
    status: str
    lastAction: str
    timestamp: str
    epoch: int
    seq: int
    startedAt: str
    lastProgress: str
    kind: str
    capabilities: list[str]
    metadata: dict[str, Any]
    session: str
    branch: str | None
    worktree: str
    generation: int
    handed: int
    pull: int
    processRunsFor: int
    silentFor: int
    clientEnded: bool
    unfinished: str
    changes: list[ChangedFields]
    usage: UsageFields


class PresenceFile(TypedDict):
    """The presence of a clone's agents, or of all."""

    agents: dict[str, AgentFields]


Presence = Mapping[str, Any]  # issue, status, lastAction, timestamp, epoch, seq, …
Agents = Mapping[str, Presence]  # by agent name


def number(presence: Presence, field: str) -> int:
    """An integer field; 0 if it is missing or, in a foreign record, of another type."""
    value = presence.get(field)
    # `True` is an int in Python, but not a number here.
    return value if type(value) is int and -NUMBERS_END < value < NUMBERS_END else 0


def typed(presence: Presence) -> dict[str, Any]:
    """The fields without those that a foreign record has in another type."""
    kinds = _kinds()
    fields = {
        name: value
        for name, value in presence.items()
        if name not in kinds or _fits(value, kinds[name])
    }
    if changes.FIELD in fields:
        fields[changes.FIELD] = changes.valid(fields[changes.FIELD])
    if METADATA in fields:
        fields[METADATA] = as_object(any_metadata(fields[METADATA]))
    if usage.FIELD in fields:
        fields[usage.FIELD] = usage.valid(fields[usage.FIELD])
    return fields


@cache  # ten thousand agents are read in one command
def _kinds() -> dict[str, Any]:
    return get_type_hints(AgentFields)


def _fits(value: Any, kind: Any) -> bool:
    if kind == list[ChangedFields]:
        return isinstance(value, list)
    if kind in (UsageFields, dict[str, Any]):
        return isinstance(value, dict)
    if kind == list[str]:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return isinstance(value, kind) and not isinstance(value, bool)


def position(presence: Presence) -> tuple[int, int]:
    """An agent's progress: (epoch, seq). Only its single writer raises it."""
    epoch, seq = presence.get("epoch"), presence.get("seq")
    # The usual case, made fast: ten thousand are compared.
    if (
        type(epoch) is int
        and type(seq) is int
        and 0 <= epoch < NUMBERS_END
        and 0 <= seq < NUMBERS_END
    ):
        return epoch, seq
    return number(presence, "epoch"), number(presence, "seq")


def next_epoch(*records: Presence) -> int:
    """The epoch of an agent that starts again, above all known ones."""
    return min(max(position(presence)[0] for presence in records) + 1, NUMBERS_END - 1)


def leaps(reports: Sequence[Agents]) -> dict[str, list[int]]:
    """Agents with an impossible epoch, and the indexes of the reports that have it. Such reports
    are ignored."""
    high = {
        name for agents in reports for name, presence in agents.items() if _epoch(presence) > LEAP
    }
    impossible: dict[str, list[int]] = {}
    for name in high:
        reported = [
            (_epoch(agents[name]), at) for at, agents in enumerate(reports) if name in agents
        ]
        reached = 0
        for epoch, at in sorted(reported):
            if epoch - reached > LEAP:
                impossible.setdefault(name, []).append(at)
            else:
                reached = max(reached, epoch)
    return impossible


def _epoch(presence: Presence) -> int:
    epoch = presence.get("epoch")
    return epoch if type(epoch) is int else 0


def issue_of(presence: Presence) -> int | None:
    """The issue that an agent reports as current."""
    return number(presence, "issue") or None


def _rank(presence: Presence) -> tuple[tuple[int, int], str]:
    return position(presence), json.dumps(presence, sort_keys=True)


def newer(left: Presence, right: Presence) -> Presence:
    """The later of an agent's two reports. Between equals the content decides, so order never
    matters."""
    ours, theirs = position(left), position(right)
    if ours != theirs:
        return left if ours > theirs else right
    if left == right and repr(left) == repr(right):  # `==` alone treats True as 1
        return left
    return max(left, right, key=_rank)


def merge(reports: Iterable[Agents]) -> dict[str, Presence]:
    """The newest presence of each agent, from all reports."""
    merged: dict[str, Presence] = {}
    for agents in reports:
        if not merged:
            merged.update(agents)
            continue
        for name, presence in agents.items():
            previous = merged.get(name)
            merged[name] = presence if previous is None else newer(previous, presence)
    return merged


def published(presence: Presence) -> dict[str, Any]:
    """A presence without the fields that stay on its machine."""
    return {key: value for key, value in presence.items() if key != "local"}


def encode(agents: Agents, others: Mapping[str, Any] | None = None) -> bytes:
    """The document that people and other tools read; `others` are its other fields."""
    shown = {name: agents[name] for name in sorted(agents)}
    document = versioned({"agents": shown, **(others or {})})
    # Half a surrogate pair is not valid UTF-8, but JSON has an escape for it.
    text = json.dumps(document, indent=2, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def decode(data: bytes) -> tuple[dict[str, Presence], dict[str, Any]]:
    """The agents of a document, and its other fields. Raises ValueError for invalid documents.

    Invalid entries and names are left out; they never hide the others.
    """
    try:
        document = json.loads(data, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("not a presence document: nested too deep") from None
    if not isinstance(document, dict) or not isinstance(document.get("agents", {}), dict):
        raise ValueError("not a presence document: it has no agents")
    agents = document.pop("agents", {})
    if number(document, KEY) <= VERSION:
        document.pop(KEY, None)  # a higher one is a newer version's, and stays
    presences: dict[str, Presence] = {
        name: value
        for name, value in agents.items()
        if isinstance(value, dict) and heartbeat.is_name(name)
    }
    return presences, document


def _no_constant(name: str) -> None:
    """NaN and Infinity are not JSON. NaN never equals itself, so it would always look new."""


def movement(name: str, before: Presence | None, after: Presence) -> Movement | None:
    """The ledger's record of a change: a new status, issue or life, else None."""
    keys = ("status", "issue", "epoch")
    if before is not None and all(before.get(key) == after.get(key) for key in keys):
        return None
    # In a manual record the status is any text; the ledger needs one word.
    status = one_line(str(after.get("status") or ""), 32).split(" ")[0]
    action, began = (
        str(after.get("lastAction") or ""),
        (before or {}).get("epoch") != after.get("epoch"),
    )
    return Movement(name, status or "idle", issue_of(after), action, began=began)
