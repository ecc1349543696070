"""The sweep: look after what agents left behind, once, by whatever clone and however often.

It needs no server and remembers what it must: a clone that is made only to sweep goes by the id of
the one before it, and finds there when it first saw whom where.
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

ATTEMPTS, PAUSE = 3, 5.0  # to send what was said, and the seconds between
NOBODY = Actor("Sweeper", is_person=True)  # where neither an agent nor git's user is named


class SweepResult(NamedTuple):
    """What a sweep saw and did."""

    policy: str
    dry_run: bool
    agents: tuple[tuple[str, int], ...]  # how many of each liveness
    outcomes: tuple[ActionResult, ...]
    report: SyncReport
    clone: CloneId

    @property
    def done(self) -> int:
        """How many acts were done."""
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
    """Look, decide, act, and publish. `ephemeral` is a clone that is made only to sweep; the forge
    knows of branches that were squashed.

    Raises BusyError while another sweep is at work, UnknownError where the remote decides and
    cannot be reached: who hears nothing takes nobody for dead.
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
    """Bring the comments about the state of issues up to date whose claims were swept."""
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
        return  # whoever has the issue next keeps the comment


def _freed_issue(act: Act) -> int | None:
    """The issue whose claim an act ended."""
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
    """A clone that is gone afterwards has no next sync that sends what was said in it."""
    for _ in range(ATTEMPTS):
        waiting = _waiting(parts)
        if not waiting and (not report.trouble or report.permanent):
            break
        parts.ws.clock.wait(PAUSE)
        with suppress(GhpError):  # what stands in the way is told below
            parts.tracker.send()
        report = _publish(parts)
    lost = _waiting(parts)
    words = f"{lost} changes of issues could not be shown on GitHub"
    return report._replace(trouble=report.trouble or words) if lost else report


def _waiting(parts: SweepParts) -> int:
    """How many writes to GitHub wait in this clone."""
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
    """What can be removed now that the claims of the dead and done have ended."""
    ws, store, leaser, _, _, forge = parts
    views = presence.list_agents(ws, store, store.snapshot())
    found = sweep_orphans.find_orphans(ws, leaser, views, before.issues, forge)
    known = {orphan.name for orphan in before.orphans}
    return [Prune(orphan) for orphan in found if orphan.removable and orphan.name not in known]


def _actor(ws: Workspace) -> Actor:
    """Who is named here; a machine that only sweeps need not name anybody."""
    try:
        return ws.actor()
    except NotSetUpError:
        return NOBODY


# ----------------------------------------------------------------------- a clone's identity


def _clone(store: StateStore) -> CloneId:
    return store.snapshot().clone


def _is_fresh(store: StateStore) -> bool:
    """Whether nothing was ever said in this clone."""
    snapshot = store.snapshot()
    return all(tip.clone != snapshot.clone for tip in snapshot.tips())


def _adopt_sweeper_id(parts: SweepParts, turn: SweepTurn) -> None:
    """Go by the id of the sweepers before, and take up what they remember."""
    if turn.clone:
        parts.store.adopt(turn.clone)
    memory.restore(parts.ws, parts.store)


def _restore_clone_id(parts: SweepParts, turn: SweepTurn, published: SyncReport) -> SyncReport:
    """Where another wrote under this id meanwhile, this clone was given one of its own: what it
    said goes to the common one, and its ref goes."""
    clone = _clone(parts.store)
    if turn.clone is None or clone == turn.clone:
        return published
    own = [tip for tip in parts.store.snapshot().tips() if tip.clone == clone]
    parts.store.adopt(turn.clone)
    parts.store.absorb(own, _actor(parts.ws))
    return parts.store.publish()
