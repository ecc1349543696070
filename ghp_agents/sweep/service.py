"""The sweep: clean up after dead agents. Any clone can run it, as often as it likes.

It needs no server. An ephemeral clone, made only to sweep, uses the id of the one before it, and
so finds when each agent and clone was first seen.
"""

from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ghp_agents.claims import holder_liveness
from ghp_agents.claims.effects import ClaimContext
from ghp_agents.core.errors import GhpError, NotSetUpError, UnknownError
from ghp_agents.core.ids import Actor, CloneId, one_line
from ghp_agents.leases.world import LeaseWorld
from ghp_agents.ports import Context, StateStore
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import NO_CLIENT, Liveness
from ghp_agents.reports import pages
from ghp_agents.state.join import SyncReport
from ghp_agents.sweep import actions, kept_cache, lock, memory
from ghp_agents.sweep import facts as sweep_facts
from ghp_agents.sweep import orphans as sweep_orphans
from ghp_agents.sweep.actions import ActionResult, Sweep
from ghp_agents.sweep.lock import SweepLock
from ghp_agents.sweep.plan import Act, Close, Finish, Free, Prune, SweepFacts, plan
from ghp_agents.sync import service as sync
from ghp_agents.workspace import Workspace
from ghp_agents.worktrees import removal

ATTEMPTS, PAUSE = 3, 5.0  # attempts to publish, and the seconds between them
STATES = (*(liveness.value for liveness in Liveness), NO_CLIENT)  # in the order of the summary
NOBODY = Actor("ghp-agents")  # without an agent's name and git's `user.name`


class SweepResult(NamedTuple):
    """The result of a sweep."""

    policy: str
    dry_run: bool
    agents: tuple[tuple[str, int], ...]  # number of each liveness
    outcomes: tuple[ActionResult, ...]
    report: SyncReport
    clone: CloneId

    @property
    def done(self) -> int:
        """The number of acts that were done."""
        return sum(outcome.done for outcome in self.outcomes)

    @property
    def failed(self) -> int:
        """The number of acts that an error prevented."""
        return sum(outcome.failed for outcome in self.outcomes)

    @property
    def failed_for_good(self) -> int:
        """Of these, those for which everything could be reached."""
        return sum(outcome.failed and not outcome.unknown for outcome in self.outcomes)


def sweep(
    ctx: Context,
    *,
    policy: str | None = None,
    dry_run: bool = False,
    prune: bool = False,
    ephemeral: bool = False,
    cache: Path | None = None,
) -> SweepResult:
    """Gather facts, plan, act and publish. `ephemeral`: a clone made only to sweep; GitHub's
    answers are kept for the next one in the folder `cache`. The forge knows which branches were
    squashed.

    Raises BusyError while another sweep runs, UnknownError if the remote cannot be reached:
    without news, no agent counts as dead.
    """
    rule = policy or ctx.ws.settings.sweep_policy
    _fetch_news(ctx)
    if dry_run:
        return _dry_run(ctx, rule, prune=prune)
    fresh = ephemeral and _is_fresh(ctx.store)
    turn = lock.acquire_lock(ctx, _actor(ctx.ws), _clone(ctx.store) if fresh else None)
    try:
        return _run(ctx, turn, rule, prune=prune, fresh=fresh, cache=cache if fresh else None)
    finally:
        turn.end()


def _fetch_news(ctx: Context) -> None:
    report = ctx.store.sync(push=False)
    if report.remote is not None and not report.fetched:
        raise UnknownError(
            f"{report.remote} cannot be reached: {report.trouble}.",
            hint="No agent was declared dead. Sweep again when it is reachable.",
        )
    holder_liveness.observe(ctx)


def _dry_run(ctx: Context, policy: str, *, prune: bool) -> SweepResult:
    facts, agents = _gather(ctx)
    acts = _plan(ctx, facts, policy, prune=prune)
    outcomes = tuple(ActionResult(act, False, "") for act in acts)
    return SweepResult(policy, True, agents, outcomes, SyncReport(None), _clone(ctx.store))


def _run(
    ctx: Context, turn: SweepLock, policy: str, *, prune: bool, fresh: bool, cache: Path | None
) -> SweepResult:
    actor = _actor(ctx.ws)
    if fresh:
        if turn.clone:  # the id of the former sweepers, with their memory
            ctx.store.use_clone_id(turn.clone)
        memory.restore(ctx)
    if cache:
        kept_cache.restore(ctx.ws, cache)
    report = sync.sync(ctx, hub=ctx.hub)
    facts, agents = _gather(ctx)
    acts = _plan(ctx, facts, policy, prune=prune)
    me = ClaimContext(ctx, actor, 0)
    rules = Sweep(me, policy, ctx.ws.settings.max_attempts, turn.renew_if_due)
    outcomes = actions.perform(rules, acts)
    tidied = removal.tidy(ctx.ws)
    if prune and any(outcome.done and _freed_issue(outcome.act) for outcome in outcomes):
        outcomes += actions.perform(rules, _newly_orphaned(ctx, facts))
    freed = {_freed_issue(outcome.act) for outcome in outcomes if outcome.done}
    _refresh_status_comments(ctx, {issue for issue in freed if issue})
    labelled = _show_job_labels(ctx, turn)
    if cache:
        kept_cache.keep(ctx.ws, cache)
    if fresh:
        memory.keep(ctx, actor)
    published = _publish(ctx)
    if fresh:
        published = _publish_with_retries(ctx, published)
        published = _restore_clone_id(ctx, turn, published)
    notes = tuple(dict.fromkeys((*report.notes, *tidied, *labelled, *published.notes)))
    return SweepResult(
        policy, False, agents, tuple(outcomes), published._replace(notes=notes), _clone(ctx.store)
    )


def _refresh_status_comments(ctx: Context, swept: set[int]) -> None:
    """Update the status comments of these issues, and those that are still pending."""
    if ctx.hub is None:
        return
    from ghp_agents.github import pending_comments, status_comment_sync

    if not swept and not pending_comments.pending(ctx.ws):
        return
    snapshot = ctx.store.snapshot()
    views = presence.list_agents(ctx, snapshot, processes=False)
    issues = ctx.tracker.known(closed=True)
    try:
        status_comment_sync.refresh(ctx, ctx.hub, snapshot, issues, views, swept)
    except GhpError:
        return  # the next sync of this clone updates the comment


def _show_job_labels(ctx: Context, turn: SweepLock) -> list[str]:
    """Show the states of all issues as labels; return notes. What fails is left to the next one."""
    if ctx.hub is None or not ctx.ws.settings.job_labels:
        return []
    from ghp_agents.github import job_labels

    views = presence.list_agents(ctx, ctx.store.snapshot(), processes=False)
    issues = ctx.tracker.known(closed=True)
    try:
        return job_labels.show(
            ctx, ctx.hub, issues, views, everywhere=True, before_each=turn.renew_if_due
        )
    except UnknownError as error:
        return [f"Labels of jobs were not written: {one_line(str(error), 300)}"]


def _freed_issue(act: Act) -> int | None:
    """Return the issue whose claim an act ended."""
    match act:
        case Free() | Close():
            return act.issue
        case Finish():
            return act.unfinished.issue
    return None


def _publish(ctx: Context) -> SyncReport:
    views = presence.list_agents(ctx, ctx.store.snapshot(), processes=False)
    gone = {view.name for view in views if view.liveness is Liveness.GONE}
    return ctx.store.publish(pages.renderer(ctx), gone=gone, create=False)


def _publish_with_retries(ctx: Context, report: SyncReport) -> SyncReport:
    """Publish until it succeeds, at most ATTEMPTS times: an ephemeral clone has no next sync."""
    for _ in range(ATTEMPTS):
        waiting = _waiting(ctx)
        if not waiting and (not report.trouble or report.permanent):
            break
        ctx.ws.clock.wait(PAUSE)
        with suppress(GhpError):  # reported below
            ctx.tracker.send()
        _refresh_status_comments(ctx, set())
        report = _publish(ctx)
    lost = _waiting(ctx)
    words = f"{lost} issue changes could not be sent to GitHub"
    return report._replace(trouble=report.trouble or words) if lost else report


def _waiting(ctx: Context) -> int:
    """Return how many writes to GitHub wait in this clone; it may be deleted after this sweep."""
    if ctx.hub is None:
        return 0
    from ghp_agents.github import pending_comments

    status = ctx.hub.status()
    return status.queued + status.refused + len(pending_comments.pending(ctx.ws))


def _gather(ctx: Context) -> tuple[SweepFacts, tuple[tuple[str, int], ...]]:
    world = LeaseWorld(ctx)
    views, facts = world.agents, sweep_facts.gather(world)
    orphans = sweep_orphans.find_orphans(ctx, views, facts.issues)
    counted = Counter(view.state for view in views)
    agents = tuple((state, counted[state]) for state in STATES if counted[state])
    return facts._replace(orphans=tuple(orphans)), agents


def _plan(ctx: Context, facts: SweepFacts, policy: str, *, prune: bool) -> list[Act]:
    most = ctx.ws.settings.max_attempts
    return plan(facts, policy=policy, max_attempts=most, prune=prune)


def _newly_orphaned(ctx: Context, before: SweepFacts) -> list[Act]:
    """Return acts that remove what became orphaned by this sweep."""
    views = presence.list_agents(ctx, ctx.store.snapshot())
    orphans = sweep_orphans.find_orphans(ctx, views, before.issues)
    earlier = {orphan.name for orphan in before.orphans}
    return [Prune(orphan) for orphan in orphans if orphan.removable and orphan.name not in earlier]


def _actor(ws: Workspace) -> Actor:
    """Return the actor here; a machine that only sweeps needs no name."""
    try:
        return ws.actor()
    except NotSetUpError:
        return NOBODY


def _clone(store: StateStore) -> CloneId:
    return store.snapshot().clone


def _is_fresh(store: StateStore) -> bool:
    """Return whether this clone has never recorded anything."""
    snapshot = store.snapshot()
    return all(tip.clone != snapshot.clone for tip in snapshot.tips())


def _restore_clone_id(ctx: Context, turn: SweepLock, published: SyncReport) -> SyncReport:
    """Return to the shared id, if another wrote under it and this clone got its own. Absorb this
    clone's records there, and drop its ref."""
    clone = _clone(ctx.store)
    if turn.clone is None or clone == turn.clone:
        return published
    own = [tip for tip in ctx.store.snapshot().tips() if tip.clone == clone]
    ctx.store.use_clone_id(turn.clone)
    ctx.store.absorb_clones(own, _actor(ctx.ws))
    return ctx.store.publish(pages.renderer(ctx), create=False)
