"""Presence: what an agent says of itself, and how what several clones know of it is joined.

A presence is kept as a plain mapping, because fields that a newer version wrote must survive.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ghp_agents.model.ledger import Movement

SCHEMA_VERSION = 1
PATH = ".ghp/agent-status.json"

Presence = Mapping[str, Any]  # issue, status, lastAction, timestamp, epoch, seq, …
Agents = Mapping[str, Presence]  # by agent name


def number(presence: Presence, field: str) -> int:
    """An integer field; 0 when it is absent or, in a record made elsewhere, something else."""
    value = presence.get(field)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def position(presence: Presence) -> tuple[int, int]:
    """How far an agent has come: (epoch, seq), which only its one writer raises."""
    return number(presence, "epoch"), number(presence, "seq")


def issue_of(presence: Presence) -> int | None:
    """The issue that an agent says it works on."""
    return number(presence, "issue") or None


def _rank(presence: Presence) -> tuple[tuple[int, int], str]:
    return position(presence), json.dumps(presence, sort_keys=True)


def newer(one: Presence, other: Presence) -> Presence:
    """The one that its agent said later; content decides between equals, so order never does."""
    ours, theirs = position(one), position(other)
    if ours != theirs:
        return one if ours > theirs else other
    return one if one == other else max(one, other, key=_rank)


def merge(known: Iterable[Agents]) -> dict[str, Presence]:
    """What is known of each agent, from all who know something."""
    merged: dict[str, Presence] = {}
    for agents in known:
        for name, presence in agents.items():
            had = merged.get(name)
            merged[name] = presence if had is None else newer(had, presence)
    return merged


def published(presence: Presence) -> dict[str, Any]:
    """A presence without what stays on its machine."""
    return {key: value for key, value in presence.items() if key != "local"}


def encode(agents: Agents, others: Mapping[str, Any] | None = None) -> bytes:
    """The document in the shape that people and other tools read; `others` are fields beside."""
    document = dict(others or {}) | {"schemaVersion": SCHEMA_VERSION}
    document["agents"] = {name: agents[name] for name in sorted(agents)}
    return json.dumps(document, indent=2, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def decode(data: bytes) -> tuple[dict[str, Presence], dict[str, Any]]:
    """The agents of a document, and its other fields. Raises ValueError when it is not one.

    An entry that is not a presence is left out; it never hides the others.
    """
    document = json.loads(data)
    if not isinstance(document, dict) or not isinstance(document.get("agents", {}), dict):
        raise ValueError("not a presence document: it has no agents")
    agents = document.get("agents", {})
    others = {key: document[key] for key in document if key not in ("agents", "schemaVersion")}
    return {name: value for name, value in agents.items() if isinstance(value, dict)}, others


def movement(name: str, before: Presence | None, after: Presence) -> Movement | None:
    """What the ledger has to say of a change: that its status or issue is another, or nothing."""
    keys = ("status", "issue", "epoch")
    if before is not None and all(before.get(key) == after.get(key) for key in keys):
        return None
    status, action = str(after.get("status", "idle")), str(after.get("lastAction", ""))
    return Movement(name, status.split(" ")[0] or "idle", issue_of(after), action)
