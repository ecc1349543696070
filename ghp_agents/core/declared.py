"""A record is declared once: JSON, its schema and its reading derive from its fields.

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
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from ghp_agents.core.clock import to_text

T = TypeVar("T")


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


class Read(NamedTuple):
    """How a value of the file is checked and converted. It gets the value and its name, and raises
    ValueError; of an actor both values. An absent field has its default, if the record has one."""

    read: Callable[[Any, str], Any]


WORD = Written(lambda member: member.value)  # of an enumeration
TIME = Written(lambda seconds: None if seconds is None else to_text(seconds))


class Field(NamedTuple):
    """How JSON has one field."""

    attribute: str
    key: str
    person: str
    mark: FieldMark | None
    write: Callable[[Any], Any] | None
    read: Callable[[Any, str], Any] | None
    hint: Any
    default: Any


def is_record(shape: Any) -> bool:
    """Whether it is the type of a record."""
    return hasattr(shape, "_fields") or hasattr(shape, "__dataclass_fields__")


@functools.cache
def fields(shape: Any) -> tuple[Field, ...]:
    """The fields of a record that JSON has."""
    return tuple(field for field in _every(shape) if field.mark is not HIDDEN)


@functools.cache
def _every(shape: Any) -> tuple[Field, ...]:
    hints = get_type_hints(shape, include_extras=True)
    defaults = getattr(shape, "_field_defaults", {})
    return tuple(_field(name, hint, defaults.get(name, ...)) for name, hint in hints.items())


def _field(attribute: str, hint: Any, default: Any) -> Field:
    first, *others = attribute.split("_")
    name, mark, write = Name(first + "".join(map(str.capitalize, others))), None, None
    read = None
    if get_origin(hint) is Annotated:
        hint, *marks = get_args(hint)
        for part in marks:
            if isinstance(part, FieldMark):
                mark = part
            elif isinstance(part, Name):
                name = part
            elif isinstance(part, Written):
                write, hint = part
            elif isinstance(part, Read):
                read = part.read
    return Field(attribute, name.key, name.person, mark, write, read, hint, default)


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
        kept = getattr(record, field.attribute)
        value = field.write(kept) if field.write else kept
        if field.mark is INLINE:
            values |= plain(value)
            continue
        if field.mark is OPTIONAL and field.default in (kept, value):
            continue
        name = value.name if field.person else value
        values[field.key] = plain(name or None if field.mark is NULL else name)
        if field.person and (value.is_person or field.mark is not OPTIONAL):
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
    for field in fields(shape):
        if field.mark is INLINE:
            yield from members(field.hint)
    for _, key, person, mark, _, read, hint, default in fields(shape):
        if mark is INLINE:
            continue
        hint = str if person else hint
        if mark is OPTIONAL and NoneType in get_args(hint):
            hint = functools.reduce(or_, (part for part in get_args(hint) if part is not NoneType))
        is_required = mark is not OPTIONAL and not (read and default is not ...)
        yield key, hint | None if mark is NULL else hint, is_required
        if person:
            yield person, bool, is_required


def decoded(shape: type[T], values: Mapping[str, Any], **given: Any) -> T:
    """The record with these values of its file, and with `given` ones that its path tells. Raises
    ValueError."""
    kind: Any = shape
    read: list[Any] = []
    for attribute, key, person, convert, default in _readers(kind):
        if convert is None:
            read.append(given[attribute])
        elif default is not ... and key not in values:
            read.append(default)
        elif person:
            read.append(convert((values.get(key), values.get(person)), key))
        else:
            read.append(convert(values.get(key), key))
    record: T = kind._make(read)
    return record


@functools.cache
def _readers(shape: Any) -> list[tuple[str, str, str, Callable[[Any, str], Any] | None, Any]]:
    """What `decoded` needs of each field: it runs for each record of years."""
    return [(x.attribute, x.key, x.person, x.read, x.default) for x in _every(shape)]
