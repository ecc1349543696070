"""The fields of a record's file, checked as they are read.

All raise ValueError, which says by its name the field that is wrong.
"""

import json
import re
from typing import Any

from ghp_agents.core.ids import NUMBERS_END, one_line

ID = r"[0-9a-f]{8,64}"  # what every record goes by, and what it is about
_ID = re.compile(ID)


def parse(data: bytes) -> dict[str, Any]:
    """The fields that a file holds."""
    try:
        fields = json.loads(data)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if not isinstance(fields, dict):
        raise ValueError("not a JSON object")
    return fields


def as_text(value: object, name: str) -> str:
    """A text that can be printed, and written to a file."""
    if not isinstance(value, str):
        raise ValueError(f"{name!r} is missing or not a text")
    # JSON can spell half of a surrogate pair, which no file and no terminal takes.
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def as_line(value: object, name: str) -> str:
    """A text on one line, without control characters and needless spaces."""
    text = as_text(value, name)
    is_one = text.isprintable() and "  " not in text and text == text.strip()
    return text if is_one else one_line(text, len(text) + 1)


def as_whole(value: object, name: str) -> int:
    """A number that counts something."""
    if type(value) is not int or not 0 <= value < NUMBERS_END:
        raise ValueError(f"{name!r} is not a whole number")
    return value


def as_id(text: str) -> str:
    """The id of a record, or of what it is about."""
    if not _ID.fullmatch(text):
        raise ValueError(f"{one_line(text, 40)!r} is not an id")
    return text


def ids_in(path: str, folder: str, what: str) -> tuple[str, str]:
    """The ids that a path has: of what the record is about, and its own."""
    about, _, name = path.removeprefix(folder).partition("/")
    record = name.removesuffix(".json")
    if record == name or not path.startswith(folder):
        raise ValueError(f"its path is not {folder}<{what}>/<record>.json")
    return as_id(about), as_id(record)
