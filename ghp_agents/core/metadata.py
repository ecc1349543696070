"""Metadata: what programs note about an agent, a message or an issue, as a JSON object.

This program keeps it and shows it, and reads nothing in it. Others write it, so it is bounded.
"""

import json
from typing import Any, NewType

from ghp_agents.core.errors import UsageError
from ghp_agents.hotpath.quoting import phrase

Metadata = NewType("Metadata", str)  # the object on one line of ASCII; nothing if it is empty
NO_METADATA = Metadata("")
LIMIT = 8_192  # bytes
DEPTH = 10  # objects and lists inside each other
SHOWN = 1_000  # characters in a text for people; `--json` prints all


def as_metadata(value: object, name: str = "metadata") -> Metadata:
    """The object in a record. Raises ValueError."""
    if not isinstance(value, dict):
        raise ValueError(f"{name!r} is not an object")
    if _is_deep(value, DEPTH):
        raise ValueError(f"{name!r} is nested more than {DEPTH} deep")
    line = json.dumps(value, separators=(",", ":"), allow_nan=False)  # ValueError for NaN
    if len(line) > LIMIT:
        raise ValueError(f"{name!r} has {len(line)} bytes; the limit is {LIMIT}")
    json.dumps(value, ensure_ascii=False).encode()  # ValueError for half of a surrogate pair
    return Metadata(line) if value else NO_METADATA


def any_metadata(value: object) -> Metadata:
    """The object in a record, or its text in a header; a wrong one is empty."""
    try:
        return as_metadata(json.loads(value) if isinstance(value, str) else value)
    except (ValueError, RecursionError):
        return NO_METADATA


def checked(text: str) -> Metadata:
    """The object that somebody gives. Raises UsageError, also for a secret in it."""
    from ghp_agents.core.secret_scan import refuse  # slow to load, and only writing needs it

    try:
        metadata = as_metadata(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"The metadata is not valid: {error}.",
            hint='Example: --metadata \'{"ticket": "X-1"}\', or --metadata @FILE.',
        ) from None
    refuse("metadata", _readable(metadata))  # an escape can hide a secret
    return metadata


def as_object(metadata: Metadata) -> dict[str, Any]:
    """The fields, for JSON."""
    fields: dict[str, Any] = json.loads(metadata or "{}")
    return fields


def shown(metadata: Metadata) -> str:
    """The object as a quoted line; nothing if it is empty."""
    return phrase(_readable(metadata), SHOWN) if metadata else ""


def _readable(metadata: Metadata) -> str:
    return json.dumps(as_object(metadata), ensure_ascii=False)


def _is_deep(value: object, left: int) -> bool:
    parts = [*value.values()] if isinstance(value, dict) else value
    return isinstance(parts, list) and (not left or any(_is_deep(part, left - 1) for part in parts))
