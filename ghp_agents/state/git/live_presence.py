"""Live presence: the files that beats write, and which of them the last fold has seen already."""

import contextlib
import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.core import files
from ghp_agents.core.ids import agent_name
from ghp_agents.hotpath import heartbeat, presence_file
from ghp_agents.state.join import Problem
from ghp_agents.state.presence import Agents, Presence, newer, position, published
from ghp_agents.workspace import Workspace

FOLDED = "folded.json"
SECRET_LENGTH = 12  # characters of the shortest secret that is looked for
# Of a file: inode and time of change, for a beat always makes a new file. Of what was in it:
# epoch and seq.
Signature = list[int]  # as JSON has it: ten thousand of them are read for one answer
Folded = Mapping[str, Signature]
# Within a tick of the file system's clock, two beats later a file may have the same inode and time
# again. A tick is at most 10 ms; what is younger than this is read again.
SETTLED = 0.1  # seconds


class Live(NamedTuple):
    """Presence as this machine has it."""

    changed: Agents  # read, because no fold has seen them
    beaten: Mapping[str, float]  # of all files
    signatures: Folded
    problems: tuple[Problem, ...]


def read_live(ws: Workspace, known: Agents) -> Live:
    """The presence files; those that the last fold put into `known` are not read again."""
    folded = _read_folded(ws)
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
            if number == 0 and name in folded and name in known:
                # A fold has read this very file, and what it read is what is known.
                now = [status.st_ino, status.st_mtime_ns, *position(known[name])]
                if now == folded[name]:
                    signatures[name] = now
                    continue
            path = f"{folder}/agents/{name}.json"
            presence = presence_file.read_presence(path)
            if presence is None:
                if Path(path).exists():
                    problems.append(Problem(path, "not a presence record; the last good one holds"))
                continue
            if number == 0 and status.st_mtime < settled:
                signatures[name] = [status.st_ino, status.st_mtime_ns, *position(presence)]
            said = _without_secrets(published(presence))
            changed[name] = newer(changed[name], said) if name in changed else said
    return Live(changed, beaten, signatures, tuple(problems))


def _without_secrets(said: dict[str, Any]) -> dict[str, Any]:
    """An action is published, and a beat has no time to look for secrets in it."""
    action = str(said.get("lastAction", ""))
    if all(len(word) < SECRET_LENGTH for word in action.split()):
        return said  # nearly always; the patterns are not even loaded
    from ghp_agents.core import secret_scan

    return said | {"lastAction": secret_scan.redacted(action)} if secret_scan.find(action) else said


def remember(ws: Workspace, signatures: Folded) -> None:
    """Note what a fold has put into a commit. Losing the note only costs time."""
    try:
        files.write_atomically(ws.cache_dir / FOLDED, json.dumps(signatures).encode())
    except OSError:
        return


def drop(ws: Workspace, agent: str) -> None:
    """Remove an agent's presence file, from where it can be. Raises UsageError for no name."""
    for folder in ws.folders:
        with contextlib.suppress(OSError):
            files.below(Path(folder) / "agents", f"{agent_name(agent)}.json").unlink()


def _presence_files(
    folder: str, known: Collection[str]
) -> tuple[list[tuple[str, os.stat_result]], list[str]]:
    """The agents that have a file, and the files that a beat has set aside; names that are known
    need no check."""
    found: list[tuple[str, os.stat_result]] = []
    aside: list[str] = []
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return found, aside
    try:
        # By the folder's descriptor: the way to each of many files would cost a quarter of this.
        with os.scandir(descriptor) as entries:
            for entry in entries:
                name = entry.name.removesuffix(".json")
                if name == entry.name or not (name in known or heartbeat.is_name(name)):
                    aside += [f"{folder}/{name}"] if name.endswith(presence_file.UNREADABLE) else []
                    continue
                try:
                    found.append((name, entry.stat()))
                except FileNotFoundError:
                    continue
    finally:
        os.close(descriptor)
    return found, sorted(aside)


def _read_folded(ws: Workspace) -> Folded:
    try:
        noted = json.loads((ws.cache_dir / FOLDED).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return noted if isinstance(noted, dict) else {}
