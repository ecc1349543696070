"""Conversations with the real GitHub, as PyGithub's own tests keep them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple


class Recorded(NamedTuple):
    """A request and what GitHub answered."""

    verb: str
    path: str
    asked: Any
    status: int
    said: Any


def conversation(path: Path) -> Iterator[Recorded]:
    """One of them. Each exchange has ten lines and an empty one."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for start in range(0, len(lines) - 9, 11):
        _, verb, _, _, address, _, request, status, _, response = lines[start : start + 10]
        yield Recorded(verb, address, _json(request), int(status), _json(response))


def _json(text: str) -> Any:
    return None if text in ("", "None") else json.loads(text)
