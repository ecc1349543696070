"""What agents of other clones have changed, as the compiled policy holds it."""

from collections.abc import Mapping
from typing import Any

from ghp_agents.hotpath import line_ranges
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import changing
from ghp_agents.presence import service as presence
from ghp_agents.presence.service import AgentView
from ghp_agents.settings.settings import Thresholds
from ghp_agents.state import changes, default_branch
from ghp_agents.state.changes import FIELD
from ghp_agents.state.presence import issue_of, number, position

MOST = 3_000  # reports of files; more would slow down each edit

Reports = dict[str, list[list[Any]]]


def by_path(ctx: Context, snapshot: Snapshot, claims: Mapping[int, Lock], *, fold: bool) -> Reports:
    """The fields of `changes_elsewhere.Report` by the file's path, the newest report first. Only of
    agents that live in other clones. If another has claimed the issue, its changes were given to
    the holder, or do not count any more."""
    others = {tip.clone for tip in snapshot.tips()} - {snapshot.clone}
    shown = (x for clone in others for x in snapshot.agents_of(clone).values())
    if not any(FIELD in fields for fields in shown):
        return {}
    views = presence.list_agents(ctx, snapshot, processes=False)
    living = [view for view in changing.reporters(views, claims) if not view.is_here]
    limits, now = ctx.ws.settings.thresholds, ctx.ws.clock.now()
    reports: Reports = {}
    count = 0
    for view in sorted(living, key=lambda view: view.heard or 0.0):
        files = _files(view, limits, now)
        count += len(files)
        if count > MOST:
            break
        for path, fields in files:
            reports.setdefault(path.lower() if fold else path, []).append(fields)
    return reports


def _files(view: AgentView, limits: Thresholds, now: float) -> list[tuple[str, list[Any]]]:
    fields = view.presence
    silent = limits.dead - view.quiet
    until = now + max(0.0, silent, number(fields, "processRunsFor") - view.silent)
    agent = [
        view.name, position(fields)[0], view.clone or "", issue_of(fields),
        now - (view.heard or 0.0), until,
    ]  # fmt: skip
    return [
        (
            change.path,
            [
                *agent,
                change.base,
                None if change.ranges is None else line_ranges.encode(change.ranges),
                change.is_deleted,
            ],
        )
        for change in changes.decode(fields)
    ]


def main_ref(ctx: Context) -> str:
    """The full ref of the main branch: the remote's, if there is one."""
    return next(reversed(default_branch.trunk_places(ctx.ws)), "")
