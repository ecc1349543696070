"""Checks and converts the fields of a record's file.

Every function raises ValueError, which names the wrong field.
"""

import json
import re
from typing import Any

from ghp_agents.core.ids import NUMBERS_END, one_line

ID = r"[0-9a-f]{8,64}"  # the id of a record, and of its subject
_ID = re.compile(ID)


def parse(data: bytes) -> dict[str, Any]:
    """The fields in a file."""
    try:
        fields = json.loads(data)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if not isinstance(fields, dict):
        raise ValueError("not a JSON object")
    return fields


def as_text(value: object, name: str) -> str:
    """A text that can be printed and written to a file."""
    if not isinstance(value, str):
        raise ValueError(f"{name!r} is missing or not a text")
    # JSON can contain half of a surrogate pair, which cannot be encoded.
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def as_line(value: object, name: str) -> str:
    """A text on one line, without control characters and repeated spaces."""
    text = as_text(value, name)
    is_one = text.isprintable() and "  " not in text and text == text.strip()
    return text if is_one else one_line(text, len(text) + 1)


def as_whole(value: object, name: str) -> int:
    """A count."""
    if type(value) is not int or not 0 <= value < NUMBERS_END:
        raise ValueError(f"{name!r} is not a whole number")
    return value


def as_id(text: str) -> str:
    """The id of a record, or of its subject."""
    if not _ID.fullmatch(text):
        raise ValueError(f"{one_line(text, 40)!r} is not an id")
    return text


def ids_in(path: str, folder: str, what: str) -> tuple[str, str]:
    """The two ids in a path: of the record's subject, and of the record."""
    about, _, name = path.removeprefix(folder).partition("/")
    record = name.removesuffix(".json")
    if record == name or not path.startswith(folder):
        raise ValueError(f"its path is not {folder}<{what}>/<record>.json")
    return as_id(about), as_id(record)
