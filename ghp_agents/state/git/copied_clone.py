"""Agents that a copied clone has from its twin: those that went on there and not here.

Their presence files stay, for whoever goes on under one of these names here must hear what became
of its claim. But as long as they are as they were copied, they are no word of this clone's own.
"""

import contextlib
import json
from collections.abc import Mapping

from ghp_agents.core import files
from ghp_agents.core.limits import LARGEST
from ghp_agents.hotpath import alive
from ghp_agents.state import presence
from ghp_agents.state.presence import Agents, position
from ghp_agents.state.private_repo import StateRepository
from ghp_agents.workspace import Workspace

NOTE = "copied.json"  # by agent, where it was in its life when it was copied: epoch and seq


def note_copies(ws: Workspace, repository: StateRepository, head: str, twins: str) -> None:
    """Note the agents that beat in the twin, whose last commit is `twins`, and not here, since the
    two were one. One whose process runs here is this clone's."""
    common = repository.run("merge-base", head, twins).text
    if not common:
        return
    before, there = _agents(repository, common, twins)
    found: dict[str, list[int]] = {}
    for name, had in before.items():
        here = ws.presence(name)
        if name not in there or position(there[name]) <= position(had) or here is None:
            continue
        if position(here) == position(had) and not alive.process_lives(here):
            found[name] = [*position(had)]
    if not found:
        return
    with contextlib.suppress(OSError):  # it is only a cache
        files.write_atomically(ws.cache_dir / NOTE, json.dumps(_noted(ws) | found).encode())


def without(ws: Workspace, beaten: Mapping[str, float], agents: Agents) -> Mapping[str, float]:
    """The beats of agents that are not as they were copied."""
    noted = _noted(ws) if beaten else {}
    gone = {name for name in noted if [*position(agents.get(name, {}))] == noted[name]}
    return {name: at for name, at in beaten.items() if name not in gone} if gone else beaten


def _noted(ws: Workspace) -> dict[str, list[int]]:
    try:
        found = json.loads((ws.cache_dir / NOTE).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _agents(repository: StateRepository, *commits: str) -> list[Agents]:
    """The agents' presence in each of `commits`; none where it cannot be read."""
    with repository.objects(largest=LARGEST) as reader:
        documents = reader.read([f"{oid}:{presence.PATH}" for oid in commits])
    found: list[Agents] = []
    for document in documents:
        try:
            found.append(presence.decode(document.content)[0] if document else {})
        except ValueError:
            found.append({})
    return found
