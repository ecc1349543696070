"""Presence: what an agent says of itself, and how what several clones know of it is joined.

A presence is kept as a plain mapping, because fields that a newer version wrote must survive.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ghp_agents.core.ids import NUMBERS_END, one_line
from ghp_agents.core.jsontext import indented
from ghp_agents.hotpath import heartbeat
from ghp_agents.state.ledger import Movement

SCHEMA_VERSION = 1
PATH = ".ghp/agent-status.json"
LEAP = 1_000_000  # epochs; no agent starts as often between what two clones know of it

Presence = Mapping[str, Any]  # issue, status, lastAction, timestamp, epoch, seq, …
Agents = Mapping[str, Presence]  # by agent name


def number(presence: Presence, field: str) -> int:
    """An integer field; 0 when it is absent or, in a record made elsewhere, something else."""
    value = presence.get(field)
    # True is an int, too, but not a number.
    return value if type(value) is int and -NUMBERS_END < value < NUMBERS_END else 0


def position(presence: Presence) -> tuple[int, int]:
    """How far an agent has come: (epoch, seq), which only its one writer raises."""
    epoch, seq = presence.get("epoch"), presence.get("seq")
    # Nearly always it is so, and ten thousand are compared.
    if (
        type(epoch) is int
        and type(seq) is int
        and 0 <= epoch < NUMBERS_END
        and 0 <= seq < NUMBERS_END
    ):
        return epoch, seq
    return number(presence, "epoch"), number(presence, "seq")


def next_epoch(*known: Presence) -> int:
    """The epoch of an agent that starts again, above all that is known of it."""
    return min(max(position(each)[0] for each in known) + 1, NUMBERS_END - 1)


def leaps(known: Sequence[Agents]) -> dict[str, list[int]]:
    """The agents of whom somebody tells an epoch that no life of theirs can have, and the numbers,
    in `known`, of those who do. Such a presence counts for nothing."""
    high = {name for agents in known for name, said in agents.items() if _epoch(said) > LEAP}
    found: dict[str, list[int]] = {}
    for name in high:
        told = [(_epoch(agents[name]), at) for at, agents in enumerate(known) if name in agents]
        reached = 0
        for epoch, at in sorted(told):
            if epoch - reached > LEAP:
                found.setdefault(name, []).append(at)
            else:
                reached = max(reached, epoch)
    return found


def _epoch(presence: Presence) -> int:
    epoch = presence.get("epoch")
    return epoch if type(epoch) is int else 0


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
    if one == other and repr(one) == repr(other):  # `==` alone takes True for 1
        return one
    return max(one, other, key=_rank)


def merge(known: Iterable[Agents]) -> dict[str, Presence]:
    """What is known of each agent, from all who know something."""
    merged: dict[str, Presence] = {}
    for agents in known:
        if not merged:
            merged.update(agents)
            continue
        for name, presence in agents.items():
            had = merged.get(name)
            merged[name] = presence if had is None else newer(had, presence)
    return merged


def published(presence: Presence) -> dict[str, Any]:
    """A presence without what stays on its machine."""
    return {key: value for key, value in presence.items() if key != "local"}


def encode(agents: Agents, others: Mapping[str, Any] | None = None) -> bytes:
    """The document in the shape that people and other tools read; `others` are fields beside."""
    document = {
        "schemaVersion": SCHEMA_VERSION,
        "agents": {name: agents[name] for name in sorted(agents)},
        **(others or {}),
    }
    # Half a surrogate pair cannot be written as UTF-8, but as the escape that JSON has for it.
    return indented(document).encode("utf-8", "backslashreplace") + b"\n"


def decode(data: bytes) -> tuple[dict[str, Presence], dict[str, Any]]:
    """The agents of a document, and its other fields. Raises ValueError when it is not one.

    An entry that is not a presence, or whose name is none, is left out; it never hides the others.
    """
    try:
        document = json.loads(data, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("not a presence document: nested too deep") from None
    if not isinstance(document, dict) or not isinstance(document.get("agents", {}), dict):
        raise ValueError("not a presence document: it has no agents")
    agents = document.pop("agents", {})
    if number(document, "schemaVersion") <= SCHEMA_VERSION:
        document.pop("schemaVersion", None)  # a higher one is a newer version's, and stays
    said: dict[str, Presence] = {
        name: value
        for name, value in agents.items()
        if isinstance(value, dict) and heartbeat.is_name(name)
    }
    return said, document


def _no_constant(name: str) -> None:
    """NaN and Infinity are no JSON, and NaN is never equal to itself: it would always be news."""


def movement(name: str, before: Presence | None, after: Presence) -> Movement | None:
    """What the ledger has to say of a change: that its status or issue is another, or nothing."""
    keys = ("status", "issue", "epoch")
    if before is not None and all(before.get(key) == after.get(key) for key in keys):
        return None
    # In a record made by hand a status is any text; it becomes one word of a line of the ledger.
    status = one_line(str(after.get("status") or ""), 32).split(" ")[0]
    return Movement(name, status or "idle", issue_of(after), str(after.get("lastAction") or ""))
