"""Sync: exchange state, repeat what failed offline, reconcile, and notify agents."""

from collections.abc import Sequence

from ghp_agents.claims import holder_liveness, pending_unassign
from ghp_agents.core.errors import GhpError, UnknownError
from ghp_agents.core.ids import one_line
from ghp_agents.escalations import service as escalation
from ghp_agents.guard import evaluate
from ghp_agents.issues import service as issue
from ghp_agents.issues.issue import Issue
from ghp_agents.leases import expiry, reconcile
from ghp_agents.notes import service as note
from ghp_agents.ports import IssueTracker, LockService, Snapshot, StateStore
from ghp_agents.presence import name_owners, process_reports
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import AgentView
from ghp_agents.state.join import SyncReport
from ghp_agents.sync import lost_locks, notifications
from ghp_agents.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.github.api.repository import GitHubRepository


def sync(
    ws: Workspace,
    store: StateStore,
    leaser: LockService,
    tracker: IssueTracker,
    *,
    push: bool = True,
    publish: bool = False,
    paced: bool = False,
    hub: "GitHubRepository | None" = None,
) -> SyncReport:
    """Sync with the coordination remote once, and do the follow-up work.

    `paced` is for background processes: no more often than hosts advise. With `hub`, commands by
    people on GitHub are executed, and the state is shown there. The report says if the remote is
    unreachable. Raises GhpError for local errors.
    """
    process_reports.report_processes(ws)
    report = store.sync(push=push, paced=paced)
    sends = report.fetched and push and not report.trouble
    notes: list[str] = []
    if report.fetched:
        holder_liveness.observe(ws, leaser)
        expiry.observe(ws, store)
        pending_unassign.apply_pending(ws, leaser, tracker)
    if sends:
        notes += lost_locks.put_back_locks(ws, store, leaser, tracker)
        issue.name_provisional(ws, store, leaser)
        notes += [f"sent what had waited: {change}" for change in tracker.send()]
        notes += escalation.post_owed(ws, store, tracker)
        note.withdraw(ws, store)
    issues: Sequence[Issue] = ()
    wanted: frozenset[int] = frozenset()
    if hub and (sends or (push and not report.remote)):
        command_notes, issues, wanted = _run_commands(ws, store, leaser, tracker, hub)
        notes += command_notes
    notes += reconcile.reconcile(ws, store, leaser, tracker)
    if sends and store.standing().unsent:
        report = _together(report, store.sync(push=push))
    report = report._replace(notes=(*report.notes, *notes))
    snapshot = store.snapshot()
    seen = presence.list_agents(ws, store, snapshot, processes=False)
    report = report._replace(notes=(*report.notes, *name_owners.observe(ws, snapshot, seen)))
    if hub and issues:
        notes = _show(ws, leaser, tracker, hub, snapshot, seen, issues, wanted)
        report = report._replace(notes=(*report.notes, *notes))
    notifications.notify_agents(ws, snapshot, leaser)
    evaluate.refresh(ws, store, leaser, tracker)
    if publish and report.remote and not report.trouble:
        gone = {view.name for view in seen if view.liveness is Liveness.GONE}
        report = _together(report, store.publish(gone=gone))
    return report


def _run_commands(
    ws: Workspace,
    store: StateStore,
    leaser: LockService,
    tracker: IssueTracker,
    hub: "GitHubRepository",
) -> tuple[list[str], Sequence[Issue], frozenset[int]]:
    """Execute commands by people on GitHub; return notes, all issues, and those with commands."""
    from ghp_agents.github.commands import notices
    from ghp_agents.github.commands import service as command

    try:
        issues = tracker.list(closed=True)
        result = command.obey_new(command.CommandParts(ws, store, leaser, tracker, hub), issues)
    except GhpError as error:
        return [f"Not heard on GitHub: {one_line(str(error), 300)}"], (), frozenset()
    issues = tracker.known(closed=True) if result.issues else issues
    notices.remember(ws, issues)
    unread = (
        f"#{number} on GitHub cannot be read, and is left out: {why}"
        for number, why in hub.unread.items()
    )
    return [*unread, *result.notes], issues, result.issues


def _show(
    ws: Workspace,
    leaser: LockService,
    tracker: IssueTracker,
    hub: "GitHubRepository",
    snapshot: Snapshot,
    views: Sequence[AgentView],
    issues: Sequence[Issue],
    wanted: frozenset[int],
) -> list[str]:
    """Show the state on GitHub; return notes on failures. The next sync tries again."""
    from ghp_agents.escalations import labels
    from ghp_agents.github import status_comment_sync

    try:
        notes = labels.show(ws, tracker, snapshot, issues)
        status_comment_sync.refresh(ws, hub, leaser, snapshot, issues, views, wanted)
    except UnknownError as error:
        return [f"Not shown on GitHub yet: {one_line(str(error), 300)}"]
    except GhpError as error:
        return [f"Not shown on GitHub: {one_line(str(error), 300)}"]
    return notes


def _together(first: SyncReport, second: SyncReport) -> SyncReport:
    return second._replace(
        pushed=first.pushed or second.pushed,
        news=first.news + second.news,
        notes=(*first.notes, *second.notes),
    )
