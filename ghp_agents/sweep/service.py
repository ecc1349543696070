"""The sweep: clean up after dead agents. Any clone can run it, as often as it likes.

It needs no server. An ephemeral clone, made only to sweep, uses the id of the one before it, and
so finds when each agent and clone was first seen.
"""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from ghp_agents.claims import holder_liveness
from ghp_agents.claims.effects import ClaimContext
from ghp_agents.core.errors import GhpError, NotSetUpError, UnknownError
from ghp_agents.core.ids import Actor, CloneId
from ghp_agents.ports import Forge, IssueTracker, LockService, StateStore
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.state.join import SyncReport
from ghp_agents.sweep import actions, lock, memory
from ghp_agents.sweep import facts as sweep_facts
from ghp_agents.sweep import orphans as sweep_orphans
from ghp_agents.sweep.actions import ActionResult, Sweep
from ghp_agents.sweep.lock import SweepRequest, SweepTurn
from ghp_agents.sweep.plan import Act, Close, Finish, Free, Prune, SweepFacts, plan
from ghp_agents.sync import service as sync
from ghp_agents.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.github.api.repository import GitHubRepository

ATTEMPTS, PAUSE = 3, 5.0  # attempts to publish, and the seconds between them
NOBODY = Actor("Sweeper", is_person=True)  # without an agent's name and git's `user.name`


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


class SweepParts(NamedTuple):
    """The parts that a sweep works with."""

    ws: Workspace
    store: StateStore
    leaser: LockService
    tracker: IssueTracker
    hub: "GitHubRepository | None" = None
    forge: Forge | None = None


def sweep(
    ws: Workspace,
    store: StateStore,
    leaser: LockService,
    tracker: IssueTracker,
    *,
    policy: str | None = None,
    dry_run: bool = False,
    prune: bool = False,
    ephemeral: bool = False,
    hub: "GitHubRepository | None" = None,
    forge: Forge | None = None,
) -> SweepResult:
    """Gather facts, plan, act and publish. `ephemeral`: a clone made only to sweep. The forge
    knows which branches were squashed.

    Raises BusyError while another sweep runs, UnknownError if the remote cannot be reached:
    without news, no agent counts as dead.
    """
    parts = SweepParts(ws, store, leaser, tracker, hub, forge)
    rule = policy or ws.settings.sweep_policy
    _fetch_news(parts)
    if dry_run:
        return _dry_run(parts, rule, prune=prune)
    fresh = ephemeral and _is_fresh(store)
    turn = lock.acquire_lock(ws, store, leaser, SweepRequest(_actor(ws), _clone(store), fresh))
    try:
        return _run(parts, turn, rule, prune=prune, fresh=fresh)
    finally:
        turn.end()


def _fetch_news(parts: SweepParts) -> None:
    report = parts.store.sync(push=False)
    if report.remote is not None and not report.fetched:
        raise UnknownError(
            f"{report.remote} cannot be reached: {report.trouble}.",
            hint="Nobody is taken for dead without news; sweep again when it can be reached.",
        )
    holder_liveness.observe(parts.ws, parts.leaser)


def _dry_run(parts: SweepParts, policy: str, *, prune: bool) -> SweepResult:
    facts, agents = _gather(parts)
    acts = _plan(parts, facts, policy, prune=prune)
    outcomes = tuple(ActionResult(act, False, "") for act in acts)
    return SweepResult(policy, True, agents, outcomes, SyncReport(None), _clone(parts.store))


def _run(
    parts: SweepParts, turn: SweepTurn, policy: str, *, prune: bool, fresh: bool
) -> SweepResult:
    ws, store, leaser, tracker, hub, _ = parts
    actor = _actor(ws)
    if fresh:
        _adopt_sweeper_id(parts, turn)
    report = sync.sync(ws, store, leaser, tracker, hub=hub)
    facts, agents = _gather(parts)
    acts = _plan(parts, facts, policy, prune=prune)
    me = ClaimContext(ws, store, leaser, tracker, actor, 0)
    rules = Sweep(me, policy, ws.settings.max_attempts, turn.check)
    outcomes = actions.perform(rules, acts)
    if prune and any(outcome.done and _freed_issue(outcome.act) for outcome in outcomes):
        outcomes += actions.perform(rules, _newly_orphaned(parts, facts))
    _refresh_status_comments(parts, outcomes)
    if fresh:
        memory.keep(ws, store, actor)
    published = _publish(parts)
    if fresh:
        published = _publish_with_retries(parts, published)
        published = _restore_clone_id(parts, turn, published)
    notes = tuple(dict.fromkeys((*report.notes, *published.notes)))
    return SweepResult(
        policy, False, agents, tuple(outcomes), published._replace(notes=notes), _clone(store)
    )


def _refresh_status_comments(parts: SweepParts, outcomes: Sequence[ActionResult]) -> None:
    """Update the status comments of issues whose claims were swept."""
    swept = {issue for outcome in outcomes if outcome.done and (issue := _freed_issue(outcome.act))}
    if parts.hub is None or not swept:
        return
    from ghp_agents.github import status_comment_sync

    snapshot = parts.store.snapshot()
    views = presence.list_agents(parts.ws, parts.store, snapshot, processes=False)
    issues = parts.tracker.known(closed=True)
    try:
        status_comment_sync.refresh(
            parts.ws, parts.hub, parts.leaser, snapshot, issues, views, swept
        )
    except GhpError:
        return  # the next holder updates the comment


def _freed_issue(act: Act) -> int | None:
    """Return the issue whose claim an act ended."""
    match act:
        case Free() | Close():
            return act.issue
        case Finish():
            return act.unfinished.issue
    return None


def _publish(parts: SweepParts) -> SyncReport:
    views = presence.list_agents(parts.ws, parts.store, parts.store.snapshot(), processes=False)
    gone = {view.name for view in views if view.liveness is Liveness.GONE}
    return parts.store.publish(gone=gone)


def _publish_with_retries(parts: SweepParts, report: SyncReport) -> SyncReport:
    """Publish until it succeeds, at most ATTEMPTS times: an ephemeral clone has no next sync."""
    for _ in range(ATTEMPTS):
        waiting = _waiting(parts)
        if not waiting and (not report.trouble or report.permanent):
            break
        parts.ws.clock.wait(PAUSE)
        with suppress(GhpError):  # reported below
            parts.tracker.send()
        report = _publish(parts)
    lost = _waiting(parts)
    words = f"{lost} changes of issues could not be shown on GitHub"
    return report._replace(trouble=report.trouble or words) if lost else report


def _waiting(parts: SweepParts) -> int:
    """Return how many writes to GitHub wait in this clone."""
    return parts.hub.standing().queued if parts.hub else 0


def _gather(parts: SweepParts) -> tuple[SweepFacts, tuple[tuple[str, int], ...]]:
    ws, store, leaser, tracker, _, forge = parts
    views = presence.list_agents(ws, store, store.snapshot())
    facts = sweep_facts.gather(ws, store, leaser, tracker, views)
    orphans = sweep_orphans.find_orphans(ws, leaser, views, facts.issues, forge)
    counted = Counter(view.liveness for view in views)
    agents = tuple((state.value, counted[state]) for state in Liveness if counted[state])
    return facts._replace(orphans=tuple(orphans)), agents


def _plan(parts: SweepParts, facts: SweepFacts, policy: str, *, prune: bool) -> list[Act]:
    most = parts.ws.settings.max_attempts
    return plan(facts, policy=policy, max_attempts=most, prune=prune)


def _newly_orphaned(parts: SweepParts, before: SweepFacts) -> list[Act]:
    """Return acts that remove what became orphaned by this sweep."""
    ws, store, leaser, _, _, forge = parts
    views = presence.list_agents(ws, store, store.snapshot())
    found = sweep_orphans.find_orphans(ws, leaser, views, before.issues, forge)
    known = {orphan.name for orphan in before.orphans}
    return [Prune(orphan) for orphan in found if orphan.removable and orphan.name not in known]


def _actor(ws: Workspace) -> Actor:
    """Return the actor here; a machine that only sweeps needs no name."""
    try:
        return ws.actor()
    except NotSetUpError:
        return NOBODY


# ----------------------------------------------------------------------- a clone's identity


def _clone(store: StateStore) -> CloneId:
    return store.snapshot().clone


def _is_fresh(store: StateStore) -> bool:
    """Return whether this clone has never recorded anything."""
    snapshot = store.snapshot()
    return all(tip.clone != snapshot.clone for tip in snapshot.tips())


def _adopt_sweeper_id(parts: SweepParts, turn: SweepTurn) -> None:
    """Use the id of the former sweepers, and restore their memory."""
    if turn.clone:
        parts.store.adopt(turn.clone)
    memory.restore(parts.ws, parts.store)


def _restore_clone_id(parts: SweepParts, turn: SweepTurn, published: SyncReport) -> SyncReport:
    """Return to the shared id, if another wrote under it and this clone got its own. Absorb this
    clone's records there, and drop its ref."""
    clone = _clone(parts.store)
    if turn.clone is None or clone == turn.clone:
        return published
    own = [tip for tip in parts.store.snapshot().tips() if tip.clone == clone]
    parts.store.adopt(turn.clone)
    parts.store.absorb(own, _actor(parts.ws))
    return parts.store.publish()
