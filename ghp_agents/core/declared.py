"""A record is declared once: JSON and its schema derive from its fields.

A field has its own name, in camel case, and its own value; marks in `Annotated` say what differs.
Not for the hot path: this reads annotations, on first use.
"""

import functools
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from operator import or_
from types import NoneType
from typing import (
    Annotated,
    Any,
    NamedTuple,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from ghp_agents.core.clock import to_text
from ghp_agents.core.ids import Actor


class FieldMark(Enum):
    """What JSON does with a field."""

    HIDDEN = "it has no such field"
    NULL = "null, if it is empty"
    OPTIONAL = "the field is absent, if it has its default"
    INLINE = "the fields of this record are fields of the outer one"


HIDDEN, NULL, OPTIONAL, INLINE = FieldMark


class Name(NamedTuple):
    """Another name in JSON. An actor has two: the second says whether it is a person."""

    key: str
    person: str = ""


class Written(NamedTuple):
    """What JSON has instead of the value, and the type of that."""

    write: Callable[[Any], Any]
    type: Any = str


WORD = Written(lambda member: member.value)  # of an enumeration
TIME = Written(lambda seconds: None if seconds is None else to_text(seconds))


class Field(NamedTuple):
    """How JSON has one field."""

    attribute: str
    key: str
    person: str
    mark: FieldMark | None
    write: Callable[[Any], Any] | None
    hint: Any
    default: Any


def is_record(shape: Any) -> bool:
    """Whether it is the type of a record."""
    return hasattr(shape, "_fields") or hasattr(shape, "__dataclass_fields__")


@functools.cache
def fields(shape: Any) -> tuple[Field, ...]:
    """The fields of a record that JSON has."""
    hints = get_type_hints(shape, include_extras=True)
    defaults = getattr(shape, "_field_defaults", {})
    every = (_field(name, hint, defaults.get(name, ...)) for name, hint in hints.items())
    return tuple(field for field in every if field.mark is not HIDDEN)


def _field(attribute: str, hint: Any, default: Any) -> Field:
    first, *others = attribute.split("_")
    name, mark, write = Name(first + "".join(map(str.capitalize, others))), None, None
    if get_origin(hint) is Annotated:
        hint, *marks = get_args(hint)
        for part in marks:
            if isinstance(part, FieldMark):
                mark = part
            elif isinstance(part, Name):
                name = part
            elif isinstance(part, Written):
                write, hint = part
    return Field(attribute, name.key, name.person, mark, write, hint, default)


def plain(value: Any) -> Any:
    """A value as JSON has it: an object for a record, and for each one inside it."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    shape: Any = type(value)
    if is_record(shape):
        return _object(value, shape)
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, Enum):
        return value.value
    return [plain(part) for part in value]


def _object(record: Any, shape: Any) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for field in fields(shape):
        value = getattr(record, field.attribute)
        if field.write:
            value = field.write(value)
        if field.mark is INLINE:
            values |= plain(value)
            continue
        name = value.name if field.person else value
        if field.mark is not OPTIONAL or name != field.default:
            values[field.key] = plain(name or None if field.mark is NULL else name)
        if field.person:
            values[field.person] = value.is_person
    return values


def members(shape: Any) -> Iterator[tuple[str, Any, bool]]:
    """What the JSON of a record or typed dictionary can have: each name with its type, and whether
    it always has it."""
    if is_typeddict(shape):
        yield from (
            (name, hint, name in shape.__required_keys__)
            for name, hint in get_type_hints(shape).items()
        )
        return
    for _, key, person, mark, _, hint, default in fields(shape):
        if mark is INLINE:
            yield from members(hint)
            continue
        hint = str if hint is Actor else hint
        if mark is OPTIONAL and default is None:
            hint = functools.reduce(or_, (part for part in get_args(hint) if part is not NoneType))
        yield key, hint | None if mark is NULL else hint, mark is not OPTIONAL
        if person:
            yield person, bool, True
