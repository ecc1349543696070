"""Live presence: the files that heartbeats write, and which of them are already folded."""

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.core.json_file import object_file
from ghp_agents.hotpath import heartbeat, presence_file
from ghp_agents.state.presence import Agents, Presence, newer, position, published
from ghp_agents.state.record import Problem
from ghp_agents.workspace import Workspace

FOLDED = "folded.json"
SECRET_LENGTH = 12  # characters; shorter words are not checked for secrets
# Fields with free text.
TEXTS = ("lastAction", "branch", "worktree", "capabilities", "changes", "metadata")
# Of the file: inode and modification time, since a heartbeat always creates a new file. Of its
# content: epoch and seq.
Signature = list[int]  # a JSON list; one command reads ten thousand of them
Folded = Mapping[str, Signature]
# Within a tick of the file system's clock, two heartbeats later a file may have the same inode and
# time. A tick is at most 10 ms; younger files are read again.
SETTLED = 0.1  # seconds


class Live(NamedTuple):
    """Presence on this machine."""

    changed: Agents  # files that no fold has seen
    beaten: Mapping[str, float]  # of all files
    signatures: Folded
    problems: tuple[Problem, ...]


def read_live(ws: Workspace, committed: Agents) -> Live:
    """Read the presence files, except those that the last fold put into `committed`."""
    folded = object_file(ws.cache_dir / FOLDED).read()
    settled = ws.clock.now() - SETTLED
    changed: dict[str, Presence] = {}
    beaten: dict[str, float] = {}
    signatures: dict[str, Signature] = {}
    problems: list[Problem] = []
    for number, folder in enumerate(ws.folders):
        present, aside = _presence_files(folder + "/agents", folded)
        problems += [Problem(path, "was set aside: not a presence record") for path in aside]
        for name, status in present:
            beaten[name] = max(beaten.get(name, 0.0), status.st_mtime)
            if number == 0 and name in folded and name in committed:
                # A fold has read this very file, so `committed` has its content.
                now = [status.st_ino, status.st_mtime_ns, *position(committed[name])]
                if now == folded[name]:
                    signatures[name] = now
                    continue
            path = f"{folder}/agents/{name}.json"
            presence = presence_file.read_presence(path)
            if presence is None:
                if Path(path).exists():
                    problems.append(
                        Problem(path, "not a presence record; the last valid one is used")
                    )
                continue
            if number == 0 and status.st_mtime < settled:
                signatures[name] = [status.st_ino, status.st_mtime_ns, *position(presence)]
            record = _without_secrets(ws, published(presence))
            changed[name] = newer(changed[name], record) if name in changed else record
    return Live(changed, beaten, signatures, tuple(problems))


def _without_secrets(ws: Workspace, record: dict[str, Any]) -> dict[str, Any]:
    """Actions, branches and paths are published, and a heartbeat has no time to look for
    secrets."""
    texts = {name: value for name, value in record.items() if name in TEXTS and value}
    if _is_harmless(texts):
        return record  # the usual case; the patterns are not even loaded
    from ghp_agents.state.git import set_aside
    from ghp_agents.state.without_secrets import clean_value

    action = str(record.get("lastAction", ""))
    if not _is_harmless(action) and set_aside.is_refused(ws, action):
        texts["lastAction"] = ""
    return record | {name: clean_value(value) for name, value in texts.items()}


def _is_harmless(value: Any) -> bool:
    """Whether a text has only words that are too short for a secret. A path is many words."""
    if isinstance(value, list):
        return all(map(_is_harmless, value))
    if isinstance(value, dict):
        return all(map(_is_harmless, value.values()))
    words = value.replace("/", " ").split() if isinstance(value, str) else ()
    return max(map(len, words), default=0) < SECRET_LENGTH


def remember(ws: Workspace, signatures: Folded) -> None:
    """Note what a fold has committed. Losing the note only costs time."""
    object_file(ws.cache_dir / FOLDED).write(signatures)


def _presence_files(
    folder: str, known_names: Collection[str]
) -> tuple[list[tuple[str, os.stat_result]], list[str]]:
    """The agents that have a file, and the files that a heartbeat has set aside. `known_names` need
    no check."""
    present: list[tuple[str, os.stat_result]] = []
    aside: list[str] = []
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return present, aside
    try:
        # By the folder's descriptor: resolving each path would take a quarter of the time.
        with os.scandir(descriptor) as entries:
            for entry in entries:
                name = entry.name.removesuffix(".json")
                if name == entry.name or not (name in known_names or heartbeat.is_name(name)):
                    aside += [f"{folder}/{name}"] if name.endswith(presence_file.UNREADABLE) else []
                    continue
                try:
                    present.append((name, entry.stat()))
                except FileNotFoundError:
                    continue
    finally:
        os.close(descriptor)
    return present, sorted(aside)
