"""A small JSON file of the cache. It may be lost or broken at any time."""

import contextlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

from ghp_agents.core import files, first_seen
from ghp_agents.core.first_seen import FirstSeen

T = TypeVar("T")
_BROKEN = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)


class JsonFile(Generic[T]):
    """A JSON file; a missing or broken one reads as `empty()`."""

    def __init__(self, path: Path, decode: Callable[[Any], T], empty: Callable[[], T]) -> None:
        self._path, self._decode, self._empty = path, decode, empty

    def read(self) -> T:
        """What `decode` makes of the content; it may raise what Python raises for a wrong type."""
        try:
            return self._decode(json.loads(self._path.read_bytes()))
        except (OSError, *_BROKEN):
            return self._empty()

    def write(self, value: object) -> None:
        """Replace the content. If nothing can be written, the next reader sees the old content."""
        with contextlib.suppress(OSError):
            files.write_atomically(self._path, json.dumps(value).encode())


def object_file(path: Path) -> JsonFile[dict[str, Any]]:
    """A file with one JSON object, unchecked."""
    return JsonFile(path, _decode_object, dict)


def _decode_object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def texts_file(path: Path) -> JsonFile[list[str]]:
    """A file with a list of texts; other entries are ignored."""
    return JsonFile(path, _decode_texts, list)


def _decode_texts(value: Any) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def first_seen_file(path: Path) -> JsonFile[dict[str, FirstSeen]]:
    """A file that notes, by name, when things were first seen as they are."""
    return JsonFile(path, first_seen.decode, dict)


def note_first_seen(
    path: Path, revisions: Mapping[str, str], now: float, *, forget: bool = False
) -> dict[str, FirstSeen]:
    """Note in the file at `path` when these things were first seen as they are. `forget` drops the
    others."""
    file = first_seen_file(path)
    before = file.read()
    noted = first_seen.first_seen(before, revisions, now)
    noted = noted if forget else before | noted
    if noted != before:
        file.write(noted)
    return noted
