"""Agents in a copied clone that continued in the original (its twin) and not here.

Their presence files stay: an agent that uses such a name here must learn what happened to its
claim. But while a file is unchanged since the copy, this clone does not report it.
"""

from collections.abc import Mapping

from ghp_agents.core.fields import LARGEST
from ghp_agents.core.json_file import object_file
from ghp_agents.hotpath import alive
from ghp_agents.state import presence
from ghp_agents.state.presence import Agents, position
from ghp_agents.state.private_repo import StateRepository
from ghp_agents.workspace import Workspace

NOTE = "copied.json"  # by agent, its position when it was copied: epoch and seq


def note_copies(ws: Workspace, repository: StateRepository, head: str, twins: str) -> None:
    """Note the agents with heartbeats in the twin (its last commit is `twins`) but not here since
    the copy. An agent whose process runs here belongs to this clone."""
    common = repository.run("merge-base", head, twins).text
    if not common:
        return
    before, theirs = _agents(repository, common, twins)
    positions: dict[str, list[int]] = {}
    for name, copied in before.items():
        here = ws.presence(name)
        if name not in theirs or position(theirs[name]) <= position(copied) or here is None:
            continue
        if position(here) == position(copied) and not alive.process_lives(here):
            positions[name] = [*position(copied)]
    if not positions:
        return
    note = object_file(ws.cache_dir / NOTE)
    note.write(note.read() | positions)


def without(ws: Workspace, beaten: Mapping[str, float], agents: Agents) -> Mapping[str, float]:
    """The heartbeats without those of agents unchanged since the copy."""
    noted = object_file(ws.cache_dir / NOTE).read() if beaten else {}
    gone = {name for name in noted if [*position(agents.get(name, {}))] == noted[name]}
    return {name: at for name, at in beaten.items() if name not in gone} if gone else beaten


def _agents(repository: StateRepository, *commits: str) -> list[Agents]:
    """The presence in each of `commits`; empty if it cannot be read."""
    with repository.objects(largest=LARGEST) as reader:
        documents = reader.read([f"{oid}:{presence.PATH}" for oid in commits])
    presences: list[Agents] = []
    for document in documents:
        try:
            presences.append(presence.decode(document.content)[0] if document else {})
        except ValueError:
            presences.append({})
    return presences
