"""Live presence: the files that beats write, and which of them the last fold has seen already."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ghp_agents import files, pulse
from ghp_agents.model.presence import Agents, Presence, newer, published
from ghp_agents.model.state import Problem
from ghp_agents.workspace import Workspace

FOLDED = "folded.json"
Signature = tuple[int, int]  # inode and time of change: a beat always makes a new file
Folded = Mapping[str, Signature]


@dataclass(frozen=True, slots=True)
class Live:
    """Presence as this machine has it."""

    changed: Agents = field(default_factory=dict)  # read, because no fold has seen them
    beaten: Mapping[str, float] = field(default_factory=dict)  # of all files
    signatures: Folded = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def look(ws: Workspace, known: Agents) -> Live:
    """The presence files; those that the last fold put into `known` are not read again."""
    folded = _read_folded(ws)
    changed: dict[str, Presence] = {}
    beaten: dict[str, float] = {}
    signatures: dict[str, Signature] = {}
    problems: list[Problem] = []
    for number, folder in enumerate(ws.folders):
        for name, path, status in _presence_files(folder + "/agents"):
            signature = (status.st_ino, status.st_mtime_ns)
            beaten[name] = max(beaten.get(name, 0.0), status.st_mtime)
            if number == 0:
                signatures[name] = signature
                if name in known and folded.get(name) == signature:
                    continue
            presence = pulse.read(path)
            if presence is None:
                if os.path.exists(path):
                    problems.append(Problem(path, "not a presence record; the last good one holds"))
                continue
            said = published(presence)
            changed[name] = newer(changed[name], said) if name in changed else said
    return Live(changed, beaten, signatures, tuple(problems))


def remember(ws: Workspace, signatures: Folded) -> None:
    """Note what a fold has put into a commit. Losing the note only costs time."""
    try:
        files.write_atomically(ws.cache_dir / FOLDED, json.dumps(signatures).encode())
    except OSError:
        return


def drop(ws: Workspace, agent: str) -> None:
    """Remove an agent's presence file."""
    for folder in ws.folders:
        (Path(folder) / "agents" / f"{agent}.json").unlink(missing_ok=True)


def _presence_files(folder: str) -> list[tuple[str, str, os.stat_result]]:
    found: list[tuple[str, str, os.stat_result]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name.removesuffix(".json")
                if name == entry.name or not pulse.is_name(name):
                    continue
                try:
                    found.append((name, entry.path, entry.stat()))
                except FileNotFoundError:
                    continue
    except OSError:
        return []
    return found


def _read_folded(ws: Workspace) -> Folded:
    try:
        noted = json.loads((ws.cache_dir / FOLDED).read_bytes())
        return {name: (int(pair[0]), int(pair[1])) for name, pair in noted.items()}
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return {}
