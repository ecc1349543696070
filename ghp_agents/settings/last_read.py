"""The last values that could be read of each configuration file.

A file that cannot be read, for example because an editor saved half of it, must not switch guards
off. So its last values stay in force, and whoever asks for the settings gets a sentence about it.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ghp_agents.core.errors import GhpError
from ghp_agents.core.json_file import object_file

FILE = "last-read.json"  # in the clone's folder in the home
UNKNOWN = {"push": False}  # of a file that was never read: it may forbid that anything is sent
EMPTY = "the file is empty, although it was not before"


def values(
    home: Path, source: str, read: Callable[[], dict[str, Any]], troubles: list[str]
) -> dict[str, Any]:
    """What `read` returns. If it raises GhpError, what it returned last, and the error is added to
    `troubles`. `home` is the clone's folder there, `source` names the file."""
    file = object_file(home / FILE)
    kept = file.read()
    before = kept.get(source)
    try:
        fresh = read()
    except GhpError as error:
        troubles.append(str(error))
        return _restored(before) if isinstance(before, dict) else dict(UNKNOWN)
    plain = json.loads(json.dumps(fresh))
    if plain != (before or {}):
        file.write(kept | {source: plain})
    return fresh


def last(home: Path, source: str) -> dict[str, Any]:
    """The last values of a file; empty if it was never read."""
    kept = object_file(home / FILE).read().get(source)
    return _restored(kept) if isinstance(kept, dict) else {}


def has(home: Path, source: str) -> bool:
    """Whether the last values of a file say anything."""
    return bool(last(home, source))


def _restored(values: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(x) if isinstance(x, list) else x for key, x in values.items()}
