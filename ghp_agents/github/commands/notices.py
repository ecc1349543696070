"""News for an agent from people on GitHub: orders to stop, and assigned issues."""

from collections.abc import Iterable
from typing import Any

from ghp_agents.core.ids import AgentName
from ghp_agents.core.json_file import JsonFile
from ghp_agents.github.commands import messages
from ghp_agents.hotpath import news_flag
from ghp_agents.hotpath.heartbeat import is_name
from ghp_agents.issues import comment_commands
from ghp_agents.issues.comment_commands import FOLDER, Obeyed
from ghp_agents.issues.issue import PROVISIONAL, Issue
from ghp_agents.locks.names import claim_name
from ghp_agents.ports import LockService, Snapshot
from ghp_agents.state.presence import issue_of
from ghp_agents.workspace import Workspace

ASSIGNED = "hub/assigned.json"  # in the folder of caches; by agent: issue and time first seen

News = list[tuple[str, str]]  # the text, and the key that records its delivery


def orders(locks: LockService, snapshot: Snapshot, agent: AgentName) -> News:
    """The texts of `stops`."""
    found = stops(locks, snapshot, agent)
    return [(messages.stop(obeyed), f"command/{obeyed.id}") for obeyed in found]


def stops(locks: LockService, snapshot: Snapshot, agent: AgentName) -> list[Obeyed]:
    """Orders to stop, as long as the agent holds the issue with the same generation."""
    records = snapshot.files(FOLDER)
    if not records:
        return []
    meant = comment_commands.told_to_stop(comment_commands.read_commands(records)[0], agent)
    held = {lease.name: lease for lease in locks.known("issue/")} if meant else {}
    found: list[Obeyed] = []
    for obeyed, act in meant:
        lease = held.get(claim_name(obeyed.issue))
        if lease and (lease.holder, lease.generation) == (agent, act.generation):
            found.append(obeyed)
    return found


def assignments(ws: Workspace, agent: AgentName) -> News:
    """Issues assigned to the agent on GitHub as of the last sync, except its current one."""
    mine = _file(ws).read().get(agent)
    if not mine:
        return []
    current_issue = issue_of(ws.presence(agent) or {})
    return [
        (messages.assigned(number), f"assigned/{number}/{since}")
        for number, since in sorted(mine.items())
        if number != current_issue
    ]


def remember(ws: Workspace, issues: Iterable[Issue]) -> None:
    """Store the assignments; wake agents that have a new one."""
    previous = _file(ws).read()
    now: dict[str, dict[int, float]] = {}
    for issue in issues:
        if issue.state == "closed" or issue.number >= PROVISIONAL:
            continue
        for name in filter(is_name, issue.assignees):
            since = previous.get(name, {}).get(issue.number, ws.clock.now())
            now.setdefault(name, {})[issue.number] = since
    if now == previous:
        return
    _file(ws).write(now)  # if that fails, it is delivered again
    for name in now:
        if now[name].keys() - previous.get(name, {}).keys() and ws.presence(name):
            news_flag.set_flag(ws.folders, name)


def _file(ws: Workspace) -> JsonFile[dict[str, dict[int, float]]]:
    return JsonFile(ws.cache_dir / ASSIGNED, _decode, dict)


def _decode(data: Any) -> dict[str, dict[int, float]]:
    return {
        str(name): {int(number): float(since) for number, since in numbers.items()}
        for name, numbers in data.items()
    }
