"""Finds who conflicts with whom, and with the main branch, by trial merges beside everything."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ghp_agents.conflicts import definition_warnings, order, pairs, trunk
from ghp_agents.conflicts import work as works
from ghp_agents.conflicts.pairs import TRUNK, Clash
from ghp_agents.conflicts.report import ConflictReport, PairConflict, TrunkConflict
from ghp_agents.conflicts.spellings import find_spellings
from ghp_agents.conflicts.trunk import OnTrunk
from ghp_agents.conflicts.work import AgentWork, UnreadWork
from ghp_agents.core.errors import NotFoundError, UnknownError
from ghp_agents.git import last_fetch, trial_merge, worktree_admin
from ghp_agents.git import process as git
from ghp_agents.git.default_branch import REMOTES
from ghp_agents.git.merge import MERGE_TREE
from ghp_agents.git.trial_merge import TrialPlace
from ghp_agents.hotpath.quoting import file, named, one_line
from ghp_agents.ports import Context
from ghp_agents.presence import service as presence
from ghp_agents.presence.service import AgentView
from ghp_agents.state import default_branch
from ghp_agents.workspace import Workspace

NO_ISSUE = 2**53  # sorts behind the others


class KnownTrunk(NamedTuple):
    """The main branch as this clone knows it."""

    name: str
    tip: str
    ref: str


def survey(ctx: Context, agent: str | None = None, *, trunk_only: bool = False) -> ConflictReport:
    """Merge the present work of all agents, as a trial. With `agent`, only what concerns it.

    Raises UnknownError (git is too old), NotFoundError (no such agent, no main branch), GitError.
    """
    _check_version(git.version())
    name, tip, ref = trunk_tip(ctx.ws)
    views = presence.list_agents(ctx, ctx.store.snapshot(), processes=False)
    present = _find(ctx, views, name)
    if agent is not None and not any(agent in work.agents for work in present):
        raise _no_work(agent, views, present)
    if agent is not None and trunk_only:
        present = [work for work in present if agent in work.agents]
    with _place(ctx.ws) as (place, scratch):
        trial_merge.use_attributes(place, tip)
        read, unread = works.read(present, place, scratch)
        read = _with_finished(ctx, views, read)
        read.sort(key=lambda work: (work.issue or NO_ISSUE, work.agents))
        merged, unmerged = trunk.merge_each(place, tip, read)
        report = ConflictReport(
            name,
            tuple(on_trunk.work for on_trunk in merged),
            unread=(*unread, *unmerged),
            fetched=_fetched(ctx.ws, ref),
        )
        report = _compared(place, report, merged, agent, trunk_only)
        if trunk_only:
            return report
        mine = _mine(merged, agent)
        warnings = definition_warnings.find_warnings(place, merged, mine, ctx.ws.clock)
        spellings = find_spellings(place, tip, merged, mine)
        return report._replace(warnings=warnings, spellings=spellings)


def _find(ctx: Context, views: Sequence[AgentView], trunk: str) -> list[AgentWork]:
    held = ctx.world.claims
    holders = {issue: lock.holder for issue, lock in held.items() if lock.holder}
    present = works.find(ctx.ws, views, default_branch.remote_name(ctx.ws), trunk, holders)
    return _not_done(ctx, present)


def _not_done(ctx: Context, present: list[AgentWork]) -> list[AgentWork]:
    """The works without those of closed issues: what was left over is in nobody's way."""
    opened = {number for issue in ctx.tracker.known() for number in issue.numbers}
    if all(work.issue is None or work.issue in opened for work in present):
        return present
    issues = ctx.tracker.known(closed=True)
    closed = {number for issue in issues if issue.state == "closed" for number in issue.numbers}
    return [work for work in present if work.issue not in closed]


def _with_finished(
    ctx: Context, views: Sequence[AgentView], read: Sequence[AgentWork]
) -> list[AgentWork]:
    """The works; those that are whole in a pull request are finished. A host is not asked: what its
    agents report counts."""
    if ctx.forge.is_local:
        finished = {(pull.branch, pull.head) for pull in ctx.forge.list() if not pull.draft}
    else:
        sent = {view.presence.get("branch") for view in views if view.presence.get("pull")}
        finished = {(work.branch, work.head) for work in read if work.branch in sent}
    return [
        work._replace(is_finished=work.commit == work.head and (work.branch, work.head) in finished)
        for work in read
    ]


def stale_works(
    ctx: Context, views: Sequence[AgentView], tip: str, fetch: Callable[[TrialPlace], str]
) -> list[TrunkConflict]:
    """The work in this clone that git cannot merge into the main branch. The main branch is at the
    commit that `fetch` brings to the place of the trial, else at `tip`.

    Raises UnknownError (git is too old, or the remote cannot be reached), GitError.
    """
    _check_version(git.version())
    name = default_branch.trunk(ctx.ws) or "main"
    present = _find(ctx, views, name)
    here = [work for work in present if not work.is_pushed]
    if not here:
        return []
    with _place(ctx.ws) as (place, scratch):
        tip = fetch(place) or tip
        trial_merge.use_attributes(place, tip)
        read, _ = works.read(here, place, scratch)
        merged, _ = trunk.merge_each(place, tip, read)
        clashes = _with_trunk(merged, _mine(merged, None))
        return _trunk_conflicts(merged, pairs.with_lines(place, merged, clashes))


@contextmanager
def _place(ws: Workspace) -> Iterator[tuple[TrialPlace, Path]]:
    """A place for trial merges, and its temporary folder."""
    with tempfile.TemporaryDirectory(prefix="ghp-conflicts-") as folder:
        scratch = Path(folder)
        programs = trial_merge.programs(ws.folder)
        yield trial_merge.open_place(ws.common_dir, scratch, programs), scratch


def _compared(
    place: TrialPlace, report: ConflictReport, merged: Sequence[OnTrunk], agent: str | None,
    trunk_only: bool,
) -> ConflictReport:  # fmt: skip
    """The report with the conflicts of what was merged into the main branch."""
    mine = _mine(merged, agent)
    clashes = (
        [] if trunk_only else pairs.merge_pairs(place, merged, None if agent is None else mine)
    )
    failed = [clash for clash in clashes if clash.failure]
    clashes = [clash for clash in clashes if not clash.failure]
    clashes = pairs.with_lines(place, merged, [*_with_trunk(merged, mine), *clashes])
    best = order.best_order(
        len(merged),
        [(clash.first, clash.second) for clash in clashes if clash.first != TRUNK],
        blocked={n for n, on_trunk in enumerate(merged) if on_trunk.conflicts},
        preferred={
            n for n, on_trunk in enumerate(merged) if on_trunk.work.commit == on_trunk.work.head
        },
        finished={n for n, on_trunk in enumerate(merged) if on_trunk.work.is_finished},
    )
    turn = {number: at for at, number in enumerate((*best.free, *best.resolving))}
    return report._replace(
        pairs=tuple(_pair(merged, clash, turn) for clash in clashes if clash.first != TRUNK),
        with_trunk=tuple(_trunk_conflicts(merged, clashes)),
        unread=(*report.unread, *(_unmerged(merged, clash) for clash in failed)),
        order=best if agent is None and not trunk_only else None,
    )


def _mine(merged: Sequence[OnTrunk], agent: str | None) -> list[int]:
    return [
        n for n, on_trunk in enumerate(merged) if agent is None or agent in on_trunk.work.agents
    ]


def _with_trunk(merged: Sequence[OnTrunk], numbers: Sequence[int]) -> list[Clash]:
    """What conflicts with the main branch, of these works."""
    return [Clash(TRUNK, n, merged[n].conflicts) for n in numbers if merged[n].conflicts]


def _trunk_conflicts(merged: Sequence[OnTrunk], clashes: Sequence[Clash]) -> list[TrunkConflict]:
    return [TrunkConflict(merged[x.second].work, x.files) for x in clashes if x.first == TRUNK]


def _pair(merged: Sequence[OnTrunk], clash: Clash, turn: dict[int, int]) -> PairConflict:
    ours, theirs = merged[clash.first].work, merged[clash.second].work
    if turn[clash.first] < turn[clash.second]:
        return PairConflict(ours, theirs, clash.files)
    return PairConflict(theirs, ours, tuple(conflict.turned for conflict in clash.files))


def _unmerged(merged: Sequence[OnTrunk], clash: Clash) -> UnreadWork:
    names = " and ".join(merged[number].work.name for number in (clash.first, clash.second))
    return UnreadWork(names, f"git cannot merge both: {one_line(clash.failure, 200)}")


def _check_version(version: tuple[int, ...]) -> None:
    if version < MERGE_TREE:
        current, needed = (".".join(map(str, numbers)) for numbers in (version, MERGE_TREE))
        raise UnknownError(
            f"Cannot tell who conflicts: git {current} has no trial merges without a worktree.",
            hint=f"Install git {needed} or newer.",
        )


def trunk_tip(ws: Workspace) -> KnownTrunk:
    """The main branch, on the remote as last fetched if a remote has it. Raises NotFoundError."""
    refs = sorted(default_branch.trunk_places(ws), key=lambda ref: not ref.startswith(REMOTES))
    for ref in refs:
        if tip := worktree_admin.tip(ws.folder, ref):
            return KnownTrunk(default_branch.trunk(ws) or "main", tip, ref)
    raise NotFoundError(
        "There is no main branch to compare with.",
        hint="Commit to it first. If it has another name, `ghp agent-doctor` says how to name it.",
    )


def _fetched(ws: Workspace, ref: str) -> float | None:
    """When the main branch was last fetched; None if it is a branch of this clone only."""
    if not ref.startswith(REMOTES):
        return None
    remote, _, branch = ref.removeprefix(REMOTES).partition("/")
    return last_fetch.fetched_at(ws.common_dir, remote, branch)


def _no_work(agent: str, views: Sequence[AgentView], present: Sequence[AgentWork]) -> NotFoundError:
    view = next((view for view in views if view.name == agent), None)
    if view is None:
        return NotFoundError(
            f"There is no agent {named(agent)}.", hint="`ghp agent-status` lists agents."
        )
    branch = view.presence.get("branch")
    if taken := next((work for work in present if work.branch and work.branch == branch), None):
        others = ", ".join(map(named, taken.agents))
        return NotFoundError(
            f"{named(agent)} has no work of its own: {others} took over {file(taken.branch)}.",
            hint=f"`ghp agent-conflicts {named(taken.agents[0])}` compares it.",
        )
    return NotFoundError(
        f"{named(agent)} has no worktree and no branch here.",
        hint="Run `ghp agent-sync`, and fetch the branches of the other clones with git.",
    )
