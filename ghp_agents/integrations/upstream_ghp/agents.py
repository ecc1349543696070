"""What upstream's `ghp` reports about agents in this clone."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ghp_agents.hotpath.locate import walk_up
from ghp_agents.integrations.upstream_ghp import records as upstream_agent
from ghp_agents.integrations.upstream_ghp.records import Noted, Role
from ghp_agents.presence.service import AgentView
from ghp_agents.workspace import Workspace

T = TypeVar("T")

LARGEST = 5_000_000  # bytes
REGISTRY, ROLES = ".ghp/agents.json", ".config/ghp-cli/coordination/agent-status.json"
PIPELINE = "ghp-pipeline.json"


class Word(NamedTuple):
    """A report of upstream, and the name of our agent; empty if unknown."""

    agent: str
    noted: Noted


class Heard(NamedTuple):
    """All reports, and the files that could not be read."""

    words: tuple[Word, ...]
    roles: tuple[Role, ...]  # those named like our agents
    broken: tuple[str, ...]

    def document(self, name: str | None = None) -> list[dict[str, Any]]:
        """The reports for `--json`, of all agents or of one."""
        entries: list[dict[str, Any]] = [
            {
                "agent": agent or None,
                "issue": noted.issue,
                "branch": noted.branch or None,
                "worktree": upstream_agent.folder_of(noted) or None,
                "status": noted.status or None,
                "stage": noted.stage or None,
                "action": noted.action or None,
                "waitingForInput": noted.waits,
                "timestamp": noted.at or None,
            }
            for agent, noted in self.words
        ]
        entries += [
            {"agent": role.name, "status": role.status or None, "timestamp": role.at or None}
            for role in self.roles
        ]
        return [entry for entry in entries if name in (None, entry["agent"])]

    def sentences(self, name: str | None = None) -> list[str]:
        """The reports as sentences, of all agents or of one."""
        pairs = [(agent, upstream_agent.sentence(noted, agent)) for agent, noted in self.words]
        pairs += [(role.name, _role_sentence(role)) for role in self.roles]
        return [text for agent, text in pairs if name in (None, agent)]


def listen(ws: Workspace, views: Sequence[AgentView]) -> Heard:
    """Read upstream's files, and match the reports with the agents of this clone."""
    home = Path(ws.environ.get("HOME") or "/")
    broken: list[str] = []
    agents = _read(home / REGISTRY, upstream_agent.registry, broken)
    stages = _read(ws.common_dir / PIPELINE, upstream_agent.pipeline, broken)
    roles = _read(home / ROLES, upstream_agent.roles, broken)
    ours = {view.name: view.presence for view in views if view.is_here}
    words: list[Word] = []
    for noted in upstream_agent.together(agents, stages):
        is_here = _is_here(ws, noted.worktree) if noted.worktree else None
        agent = upstream_agent.agent_of(noted, ours) if is_here is not False else ""
        if is_here or (is_here is None and agent):
            words.append(Word(agent, noted))
    names = {view.name for view in views}
    fitting = tuple(role for role in roles if role.name in names)
    return Heard(tuple(words), fitting, tuple(broken))


def _role_sentence(role: Role) -> str:
    when = f", last seen {role.at}" if role.at else ""
    return f"Upstream ghp reports for the role {role.name}: {role.status or 'nothing more'}{when}."


def _read(path: Path, parse: Callable[[Any], list[T]], broken: list[str]) -> list[T]:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        return parse(json.loads(content)) if len(content) <= LARGEST else _left_out(path, broken)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError, RecursionError):
        return _left_out(path, broken)


def _left_out(path: Path, broken: list[str]) -> list[Any]:
    broken.append(str(path))
    return []


def _is_here(ws: Workspace, worktree: str) -> bool:
    """Whether a folder is the top of a worktree of this clone."""
    folder = Path(worktree)
    place = walk_up(worktree) if folder.is_absolute() and folder.is_dir() else None
    if place is None or place.toplevel is None:
        return False
    same = Path(place.common_dir).resolve() == ws.common_dir.resolve()
    return same and Path(place.toplevel).resolve() == folder.resolve()
