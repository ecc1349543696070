"""The conversation with a model: kept in the run's folder, continued by a later run, and cut to
what the model can read."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Message = dict[str, Any]
FILE = "transcript.jsonl"
LINE_LIMIT = 8_000_000
LEFT_OUT = "[Earlier steps are left out here.]"


class Transcript:
    """The messages of a session, each written to the file when it is added."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self.messages: list[Message] = []

    def add(self, *messages: Message) -> None:
        """Add messages. Raises OSError."""
        data = "".join(f"{json.dumps(message)}\n" for message in messages)
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(file, "w", encoding="utf-8") as sink:
            sink.write(data)
        self.messages += messages


def read(folder: Path) -> list[Message]:
    """The messages of an earlier session up to its last whole step; empty if there are none."""
    try:
        lines = (folder / FILE).read_text("utf-8", "replace").split("\n")
    except OSError:
        return []
    messages: list[Message] = []
    for line in lines:
        try:
            message = json.loads(line) if len(line) < LINE_LIMIT else None
        except (ValueError, RecursionError):
            break  # it was cut when the process was killed
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            break
        messages.append(message)
    groups = rounds(messages)
    if len(groups) > 1 and not _is_whole(groups[-1]):
        groups.pop()
    return [message for group in groups for message in group]


def rounds(messages: Sequence[Message]) -> list[list[Message]]:
    """The beginning, and then each answer with what followed it."""
    groups: list[list[Message]] = [[]]
    for message in messages:
        if message.get("role") == "assistant":
            groups.append([])
        groups[-1].append(message)
    return groups


def _is_whole(group: Sequence[Message]) -> bool:
    """Whether each call of the answer has its result; servers refuse others."""
    called = {call.get("id") for call in group[0].get("tool_calls") or []}
    return called <= {message.get("tool_call_id") for message in group[1:]}


def fitting(messages: Sequence[Message], limit: int) -> list[Message]:
    """The beginning and as many of the last rounds as fit in `limit` characters of JSON, at least
    one."""
    first, *later = rounds(messages)
    left = limit - _size(first)
    kept: list[list[Message]] = []
    for group in reversed(later):
        left -= _size(group)
        if left < 0 and kept:
            break
        kept.insert(0, group)
    if len(kept) == len(later):
        return list(messages)
    note: Message = {"role": "user", "content": LEFT_OUT}
    return [*first, note, *(message for group in kept for message in group)]


def _size(messages: Sequence[Message]) -> int:
    return sum(len(json.dumps(message, ensure_ascii=False)) for message in messages)
