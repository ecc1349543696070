"""Values of a type with every field filled, or with none that can be left out; always the same."""

from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, NewType, Union, get_args, get_origin, get_type_hints

from ghp_agents.core.ids import Actor, AgentName, CloneId, IssueNumber, Timestamp
from ghp_agents.core.metadata import Metadata

AT, CLONE, ID = Timestamp("2026-01-25T10:30:00Z"), CloneId("00c0ffee0000"), "0123456789ab"
KNOWN: dict[Any, Any] = {
    Actor: Actor("worker-1"),
    AgentName: AgentName("worker-1"),
    CloneId: CLONE,
    IssueNumber: IssueNumber(12),
    Metadata: Metadata('{"ticket":"X-1"}'),
    Timestamp: AT,
    bool: True,
    bytes: b"content\n",
    float: 1.5,
    int: 7,
}


def full(kind: Any, /, **given: Any) -> Any:
    """A record of this type with a value in each field; `given` are those that a type cannot
    tell. A text is the name of its field, an element of a list is numbered."""
    hints = get_type_hints(kind)
    return kind(**{name: given.get(name, _value(hints[name], name)) for name in kind._fields})


def bare(kind: Any, /, **given: Any) -> Any:
    """A record of this type with only what it must have."""
    hints = get_type_hints(kind)
    required = [name for name in kind._fields if name not in kind._field_defaults]
    empty = {name: None for name in required if NoneType in get_args(hints[name])}
    return kind(**{name: _value(hints[name], name) for name in required} | empty | given)


def _value(hint: Any, name: str) -> Any:
    origin, parts = get_origin(hint), get_args(hint)
    if hint in KNOWN:
        return KNOWN[hint]
    if hint in (str, Any, object):
        return ID if name == "id" else f"the {name}"
    if isinstance(hint, NewType):
        return _value(hint.__supertype__, name)
    if origin in (Union, UnionType):
        return _value(next(part for part in parts if part is not NoneType), name)
    if origin is Literal:
        return parts[0]
    if origin is tuple and Ellipsis not in parts:
        return tuple(_value(part, name) for part in parts)
    if origin in (tuple, list, Sequence):
        elements = [_numbered(_value(parts[0], name), number) for number in (1, 2)]
        return tuple(elements) if origin is tuple else elements
    if origin in (dict, Mapping):
        return {name: _value(parts[1], f"value of {name}")}
    if hasattr(hint, "_fields"):
        return full(hint)
    raise TypeError(f"{name}: say in tests/support/filled.py what a value of {hint} is.")


def _numbered(value: Any, number: int) -> Any:
    if isinstance(value, str):
        return f"{value} {number}"
    return value + number if type(value) is int else value
