"""Checks and converts the fields of a record's file.

The functions named `as_` raise ValueError, which names the wrong field. Those named `any_` read
what people may have written by hand; a wrong value is an empty one.
"""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any

from ghp_agents.core.declared import Read
from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import NUMBERS_END, Actor, AgentName, agent_name, one_line
from ghp_agents.core.schema_version import unversioned, versioned

LARGEST = 100_000_000  # bytes of a record's file; hosts refuse more
ID = r"[0-9a-f]{8,64}"  # the id of a record, and of its subject
_ID = re.compile(ID)
_OID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def parse(data: bytes) -> dict[str, Any]:
    """The fields in a file, without its version."""
    try:
        fields = json.loads(data)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if not isinstance(fields, dict):
        raise ValueError("not a JSON object")
    return unversioned(fields)


def dump(fields: Mapping[str, Any]) -> bytes:
    """Fields as a file that people can read, with its version."""
    text = json.dumps(versioned(fields), indent=2, ensure_ascii=False)
    return text.encode("utf-8", "replace") + b"\n"


def as_text(value: object, name: str) -> str:
    """A text that can be printed and written to a file."""
    if not isinstance(value, str):
        raise ValueError(f"{name!r} is missing or not a text")
    # JSON can contain half of a surrogate pair, which cannot be encoded.
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def as_line(value: object, name: str) -> str:
    """A text on one line, without control characters and repeated spaces."""
    text = value if isinstance(value, str) and value.isascii() else as_text(value, name)
    is_one = text.isprintable() and "  " not in text and text == text.strip()
    return text if is_one else one_line(text, len(text) + 1)


def as_whole(value: object, name: str) -> int:
    """A count."""
    if type(value) is not int or not 0 <= value < NUMBERS_END:
        raise ValueError(f"{name!r} is not a whole number")
    return value


def as_agent(text: str) -> AgentName:
    """The name of an agent in a record."""
    try:
        name = agent_name(text)
    except UsageError as error:
        raise ValueError(str(error)) from None
    if name != text:
        raise ValueError(f"{one_line(text, 80)!r} has capital letters")
    return name


def as_actor(name: str, person: object) -> Actor:
    """A person, or an agent with a checked name."""
    is_person = person is True
    return Actor(name if is_person else as_agent(name), is_person)


def as_id(text: str) -> str:
    """The id of a record, or of its subject."""
    if not _ID.fullmatch(text):
        raise ValueError(f"{one_line(text, 40)!r} is not an id")
    return text


def is_oid(text: object) -> bool:
    """Whether it is the id of a git object: git gets it as an argument."""
    return isinstance(text, str) and _OID.fullmatch(text) is not None


def ids_in(path: str, folder: str, what: str) -> tuple[str, str]:
    """The two ids in a path: of the record's subject, and of the record."""
    about, _, name = path.removeprefix(folder).partition("/")
    record = name.removesuffix(".json")
    if record == name or not path.startswith(folder):
        raise ValueError(f"its path is not {folder}<{what}>/<record>.json")
    if _ID.fullmatch(about) and _ID.fullmatch(record):
        return about, record
    return as_id(about), as_id(record)


def any_text(value: object) -> str:
    """A text."""
    return value if isinstance(value, str) else ""


def any_count(value: object) -> int:
    """A positive number, else 0."""
    return value if type(value) is int and value > 0 else 0


def any_list(value: object) -> list[Any]:
    """A list."""
    return value if isinstance(value, list) else []


def line(limit: int) -> Read:
    """A text on one line of which at most so many characters are kept."""
    return Read(lambda value, name: as_line(value, name)[:limit])


Line = Annotated[str, Read(as_line)]
Text = Annotated[str, Read(as_text)]
Whole = Annotated[int, Read(as_whole)]
Flag = Annotated[bool, Read(lambda value, _: value is True)]  # a wrong value is false
