"""News that main moved where an agent works: its work no longer merges.

Only a sync in the background looks, once for each tip of main. What was merged in another clone is
fetched into a temporary folder, so nothing of the user's repository changes. Where git cannot tell,
an agent hears of files that both changed.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ghp_agents.conflicts import stale_base
from ghp_agents.conflicts.stale_base import StaleBase
from ghp_agents.core.errors import GhpError, NotFoundError
from ghp_agents.core.ids import AgentName, count, listed
from ghp_agents.core.json_file import JsonFile
from ghp_agents.git import changed_paths, worktree, worktree_admin
from ghp_agents.hotpath.quoting import file, named, phrase
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.presence.service import AgentView
from ghp_agents.pulls.local_pulls import read_all
from ghp_agents.pulls.pull import Pull
from ghp_agents.pulls.record import FOLDER
from ghp_agents.state import default_branch
from ghp_agents.state import remote_branches as branches
from ghp_agents.workspace import Workspace
from ghp_agents.worktrees import checkout

if TYPE_CHECKING:
    from ghp_agents.git.trial_merge import TrialPlace

FILE = "merged.json"  # in the folder of caches
SHOWN = 5  # files
MOST = 20  # news that are kept for each agent
PULLS = 3  # pull requests that are named with a conflict

News = list[tuple[str, str]]  # the text, and the key that records its delivery


class Merges(NamedTuple):
    """What this clone knew of merges, and the news of them by agent."""

    records: int = -1  # of pull requests; -1: it never looked
    tip: str = ""  # of main, as this clone knew it
    on_main: tuple[str, ...] = ()  # the commits on main
    news: Mapping[str, Sequence[tuple[str, str]]] = {}
    opened: int = 0  # issues: of a closed one, no work is in anybody's way


def observe(ctx: Context, snapshot: Snapshot, views: Sequence[AgentView]) -> None:
    """Look whether main moved, and if so, whose work no longer merges with it."""
    files, before = snapshot.files(FOLDER), _file(ctx.ws).read()
    records, tip, opened = len(files), _tip(ctx.ws), _opened(ctx)
    if (records, tip, opened) == (before.records, before.tip, before.opened):
        return
    pulls = [history.pull for history in read_all(snapshot)]
    merged = [pull for pull in pulls if pull.merged_as]
    new = [pull for pull in merged if pull.merged_as not in before.on_main and pull.paths]
    agents = presence.agents_here(ctx.ws)
    bases = _look(ctx, views, tip, new) if agents and tip else {}
    news = {**before.news}
    for agent in agents:
        if bases is not None:
            base = bases.get(agent)
            news[agent] = [(_stale_text(base, new), base.key)] if base else []
        elif before.records >= 0 and (merge_news := _news(ctx.ws, agent, new)):
            news[agent] = [*news.get(agent, ()), *merge_news][-MOST:]
    if bases is not None:
        stale_base.keep(ctx.ws, bases)
    on_main = tuple(str(pull.merged_as) for pull in merged)
    _file(ctx.ws).write(Merges(records, tip, on_main, news, opened))


def _opened(ctx: Context) -> int:
    try:
        return len(ctx.tracker.known())
    except GhpError:
        return 0


def _tip(ws: Workspace) -> str:
    from ghp_agents.conflicts import service as conflicts

    try:
        return conflicts.trunk_tip(ws).tip
    except NotFoundError:
        return ""


def _look(
    ctx: Context, views: Sequence[AgentView], tip: str, new: Sequence[Pull]
) -> dict[str, StaleBase] | None:
    """Whose work no longer merges with main; None if that is unknown."""
    from ghp_agents.conflicts import service as conflicts

    ws, tips = ctx.ws, [tip]
    is_elsewhere = any(not worktree.has_commit(ws.folder, pull.merged_as or "") for pull in new)

    def fetch(place: "TrialPlace") -> str:
        """The remote's tip, if this clone lacks it."""
        if is_elsewhere:
            tips.append(branches.fetch_aside(ws, default_branch.trunk(ws) or "", place.env))
        return tips[-1]

    try:
        stale = conflicts.stale_works(ctx, views, tip, fetch)
    except GhpError:
        return None
    return stale_base.of_conflicts(stale, tips[-1] or tip)


def _stale_text(base: StaleBase, new: Sequence[Pull]) -> str:
    paths = {*base.files}
    pulls = [pull for pull in new if not paths.isdisjoint(pull.paths)][:PULLS]
    by = ", ".join(f"#{pull.number} {phrase(pull.title)} by {named(pull.author)}" for pull in pulls)
    return (
        f"main moved, and your work no longer merges with it: {base.words}."
        + (f" The cause is {by}." if by else "")
        + " Run `ghp agent-update`: it changes nothing here, shows both sides and says what to do."
    )


def news(ws: Workspace, agent: AgentName) -> News:
    """What an agent hears of merges, delivered or not."""
    items = [(text, name) for text, name in _file(ws).read().news.get(agent, ())]
    if any(name.startswith(stale_base.KEY) for _, name in items):
        base = stale_base.known(ws, agent)
        return [item for item in items if base and item[1] == base.key]
    return items


def _news(ws: Workspace, agent: AgentName, merged: Iterable[Pull]) -> News:
    fields = ws.presence(agent) or {}
    place = _worktree(ws, agent, str(fields.get("branch") or ""))
    mine = _changed(ws, place) if place else set[str]()
    return [
        (_text(pull, paths), f"merged/{pull.merged_as}")
        for pull in merged
        if agent not in (pull.author, pull.sent and pull.sent.by.name)
        and (paths := sorted(mine.intersection(pull.paths)))
    ]


def _worktree(ws: Workspace, agent: AgentName, branch: str) -> Path | None:
    paths = [x.path for x in worktree_admin.listed(ws.folder) if branch and x.branch == branch]
    named_after = None if paths else checkout.of_agent(ws.folder, agent)
    path = paths[0] if paths else named_after and named_after.path
    return path if path and path.is_dir() else None


def _changed(ws: Workspace, place: Path) -> set[str]:
    """The paths that differ in a worktree from where its branch left main, committed or not."""
    paths: set[str] = set()
    with suppress(GhpError):
        paths.update(changed_paths.in_worktree(place))
    with suppress(GhpError):
        main = branches.known_tip(ws, default_branch.trunk(ws) or "")
        paths.update(changed_paths.differing(place, changed_paths.fork_point(place, main), "HEAD"))
    return paths


def _text(pull: Pull, paths: Sequence[str]) -> str:
    shown = listed([*map(file, paths)], SHOWN)
    files = f"{count(len(paths), 'file')} that you changed"
    return (
        f"main moved: #{pull.number} {phrase(pull.title)} by {named(pull.author)} changed {files}, "
        f"too: {shown}. To get it now, run `ghp agent-update`."
    )


def _file(ws: Workspace) -> JsonFile[Merges]:
    return JsonFile(ws.cache_dir / FILE, _decode, Merges)


def _decode(data: Any) -> Merges:
    records, tip, on_main, news, *opened = data
    return Merges(
        int(records),
        str(tip),
        tuple(str(commit) for commit in on_main),
        {str(name): [(str(text), str(key)) for text, key in items] for name, items in news.items()},
        int(opened[0]) if opened else 0,
    )
