"""News that main moved: a merged pull request changed files that an agent changed, too.

Only a sync computes it, and only after a merge. What was merged comes from the records of merges,
so nothing is fetched into the user's repository.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import AgentName, count
from ghp_agents.core.json_file import JsonFile
from ghp_agents.git import changed_paths, worktree_admin
from ghp_agents.hotpath.quoting import file, named, phrase
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.pulls import replay
from ghp_agents.pulls.pull import Pull
from ghp_agents.pulls.record import FOLDER
from ghp_agents.state import default_branch
from ghp_agents.state import remote_branches as branches
from ghp_agents.workspace import Workspace
from ghp_agents.worktrees import checkout

FILE = "merged.json"  # in the folder of caches
SHOWN = 5  # files
MOST = 20  # news that are kept for each agent

News = list[tuple[str, str]]  # the text, and the key that records its delivery


class Merges(NamedTuple):
    """What this clone knew of merges, and the news of them by agent."""

    records: int = -1  # of pull requests; -1: it never looked
    known: tuple[str, ...] = ()  # the commits on main
    news: Mapping[str, Sequence[tuple[str, str]]] = {}


def observe(ctx: Context, snapshot: Snapshot) -> None:
    """Compare new merges with what each agent of this clone changed."""
    files, before = snapshot.files(FOLDER), _file(ctx.ws).read()
    records = len(files)
    if records == before.records:
        return
    pulls = [found.pull for found in replay.fold(replay.read_events(files))]
    merged = [pull for pull in pulls if pull.merged_as]
    new = [pull for pull in merged if pull.merged_as not in before.known and pull.paths]
    agents = presence.agents_here(ctx.ws) if before.records >= 0 and new else []
    news = {**before.news}
    for agent in agents:
        if found := _news(ctx.ws, agent, new):
            news[agent] = [*news.get(agent, ()), *found][-MOST:]
    known = tuple(str(pull.merged_as) for pull in merged)
    _file(ctx.ws).write(Merges(records, known, news))


def news(ws: Workspace, agent: AgentName) -> News:
    """What an agent hears of merges, delivered or not."""
    return [(text, name) for text, name in _file(ws).read().news.get(agent, ())]


def _news(ws: Workspace, agent: AgentName, merged: Iterable[Pull]) -> News:
    fields = ws.presence(agent) or {}
    place = _worktree(ws, agent, str(fields.get("branch") or ""))
    mine = _changed(ws, place) if place else set[str]()
    return [
        (_text(ws, pull, paths), f"merged/{pull.merged_as}")
        for pull in merged
        if agent not in (pull.author, pull.sent and pull.sent.by.name)
        and (paths := sorted(mine.intersection(pull.paths)))
    ]


def _worktree(ws: Workspace, agent: AgentName, branch: str) -> Path | None:
    found = [x.path for x in worktree_admin.listed(ws.folder) if branch and x.branch == branch]
    named_after = None if found else checkout.of_agent(ws.folder, agent)
    path = found[0] if found else named_after and named_after.path
    return path if path and path.is_dir() else None


def _changed(ws: Workspace, place: Path) -> set[str]:
    """The paths that differ in a worktree from where its branch left main, committed or not."""
    found: set[str] = set()
    with suppress(GhpError):
        found.update(changed_paths.in_worktree(place))
    with suppress(GhpError):
        main = branches.known_tip(ws, default_branch.trunk(ws) or "")
        found.update(changed_paths.since(place, changed_paths.fork_point(place, main)))
    return found


def _text(ws: Workspace, pull: Pull, paths: Sequence[str]) -> str:
    shown = ", ".join(map(file, paths[:SHOWN]))
    more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
    files = f"{count(len(paths), 'file')} that you changed"
    return (
        f"main moved: #{pull.number} {phrase(pull.title)} by {named(pull.author)} changed {files}, "
        f"too: {shown}{more}. To get it now, commit and run `{_command(ws, pull.base)}`."
    )


def _command(ws: Workspace, base: str) -> str:
    remote, method = branches.where(ws), ws.settings.update_method
    if remote is None:
        return f"git {method} {file(base)}"
    how = "--rebase" if method == "rebase" else "--no-rebase --no-edit"
    return f"git pull {how} {file(remote.name)} {file(base)}"


def _file(ws: Workspace) -> JsonFile[Merges]:
    return JsonFile(ws.cache_dir / FILE, _decode, Merges)


def _decode(data: Any) -> Merges:
    records, known, news = data
    return Merges(
        int(records),
        tuple(str(commit) for commit in known),
        {str(name): [(str(text), str(key)) for text, key in found] for name, found in news.items()},
    )
