"""Sync: exchange state, repeat what failed offline, reconcile, and notify agents."""

from collections.abc import Sequence
from contextlib import nullcontext

from ghp_agents.claims import holder_liveness, pending_unassign
from ghp_agents.core import progress
from ghp_agents.core.errors import GhpError, UnknownError
from ghp_agents.core.ids import one_line
from ghp_agents.escalations import service as escalation
from ghp_agents.guard import evaluate
from ghp_agents.handoffs import left_work
from ghp_agents.issues import service as issue
from ghp_agents.issues.issue import Issue
from ghp_agents.leases import expiry, reconcile
from ghp_agents.messages import mailbox
from ghp_agents.messages.channels import channel_list
from ghp_agents.notes import service as note
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import name_owners, process_reports
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import AgentView
from ghp_agents.state.join import SyncReport
from ghp_agents.state.sender_budget import SenderBudget
from ghp_agents.sync import (
    compaction,
    desktop,
    lost_locks,
    main_moved,
    notifications,
    overdue_requests,
    report_changes,
    two_owners,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.github.api.repository import GitHubRepository


def sync(
    ctx: Context,
    *,
    hub: "GitHubRepository | None" = None,
    push: bool = True,
    publish: bool = False,
    paced: bool = False,
    in_command: bool = False,
) -> SyncReport:
    """Sync with the coordination remote once, and do the follow-up work.

    `paced` is for background processes: they sync no more often than hosts advise. `in_command`
    leaves work that nobody waits for to the next sync in the background. With `hub`, commands by
    people on GitHub are executed, and the state is shown there. The report says if the remote is
    unreachable. Raises GhpError for local errors.
    """
    if not in_command:
        report_changes.report_changes(ctx)
    process_reports.report_processes(ctx.ws)
    report = ctx.store.sync(push=push, paced=paced)
    sends = report.fetched and push and not report.trouble
    notes: list[str] = []
    budget = SenderBudget(ctx.store.snapshot())
    if report.fetched:
        holder_liveness.observe(ctx)
        expiry.observe(ctx)
        pending_unassign.apply_pending(ctx)
        left_work.save(ctx)
    if sends:
        notes += lost_locks.put_back_locks(ctx, budget)
        if not ctx.tracker.accepts_comment_commands:  # GitHub numbers its issues itself
            issue.name_provisional(ctx)
        with ctx.tracker.showing() if in_command else nullcontext():
            notes += _send_waiting(ctx)
        note.withdraw(ctx)
    issues: Sequence[Issue] = ()
    wanted: frozenset[int] = frozenset()
    if hub and (sends or (push and not report.remote)):
        delivered_notes, delivered = _deliver(ctx, hub) if sends else ([], frozenset[int]())
        is_asked = not (paced or in_command)  # somebody waits for what is on GitHub now
        command_notes, issues, wanted = _run_commands(ctx, hub, is_asked=is_asked)
        notes += [*delivered_notes, *command_notes]
        wanted |= delivered
        if sends:
            from ghp_agents.github.tokenless import publish as published_issues

            published_issues.publish(ctx, hub)
    notes += [
        *reconcile.reconcile(ctx, budget),
        *overdue_requests.ask(ctx, budget),
        *two_owners.ask(ctx, budget),
        *_continue(ctx, budget, starts=not in_command),
    ]
    if paced and (sends or not report.remote):
        compaction.compact_if_due(ctx)
    if sends and ctx.store.sync_status().unsent:
        report = _together(report, ctx.store.sync(push=push, fetch=False))
    snapshot = ctx.store.snapshot()
    views = presence.list_agents(ctx, snapshot, processes=False)
    notes += name_owners.observe(ctx.ws, snapshot, views)
    if hub and issues:
        notes += _show(ctx, hub, snapshot, views, issues, wanted, in_command=in_command)
    if not in_command:
        main_moved.observe(ctx, snapshot, views)
    notes += [*_tell(ctx, snapshot, budget), *budget.notes()]
    report = report._replace(notes=(*report.notes, *notes))
    evaluate.refresh(ctx)
    if publish and report.remote and not report.trouble:
        from ghp_agents.reports import pages  # reads every noun; few syncs publish

        gone = {view.name for view in views if view.liveness is Liveness.GONE}
        report = _together(report, ctx.store.publish(pages.renderer(ctx), gone=gone))
    return report


def _tell(ctx: Context, snapshot: Snapshot, budget: SenderBudget) -> list[str]:
    """Tell agents that there is news, and write the files of channels again; return notes. Only a
    person's own command sends what they wrote there."""
    notifications.notify_agents(ctx, snapshot)
    desktop.announce(ctx, snapshot, budget=budget)
    if channel_list.path(ctx.ws) is None:
        return []
    from ghp_agents.messages import channel_files

    try:
        return channel_files.refresh(ctx)
    except GhpError as error:
        return [str(error)]


def _continue(ctx: Context, budget: SenderBudget, *, starts: bool) -> list[str]:
    """Start the workflows that labels ask for, and do the next steps of all; return notes. One that
    is wrong stops no sync."""
    if not starts and not mailbox.of_workflows(ctx.ws, ctx.store.snapshot()):
        return []
    from ghp_agents.workflows import service as workflows
    from ghp_agents.workflows.starts import by_labels

    try:
        labels = by_labels(ctx, budget) if starts else ()
        return [*labels, *workflows.advance(ctx, budget)]
    except GhpError as error:
        return [f"Workflows wait: {one_line(str(error), 300)}"]


def _send_waiting(ctx: Context) -> list[str]:
    """Send what could not be shown before; return notes."""
    sent = [f"sent a change that was waiting: {change}" for change in ctx.tracker.send()]
    return [*sent, *escalation.post_owed(ctx)]


def _deliver(ctx: Context, hub: "GitHubRepository") -> tuple[list[str], frozenset[int]]:
    """Send what clones without a token left; return notes, and the issues that it was about."""
    from ghp_agents.github.tokenless import send

    try:
        sent = send.send_all(ctx, hub)
    except GhpError as error:
        return [f"Not sent for other clones: {one_line(str(error), 300)}"], frozenset()
    return [*sent.notes], sent.issues


def _run_commands(
    ctx: Context, hub: "GitHubRepository", *, is_asked: bool
) -> tuple[list[str], Sequence[Issue], frozenset[int]]:
    """Execute commands by people on GitHub; return notes, all issues, and those with commands."""
    from ghp_agents.github import merge_queue, moved
    from ghp_agents.github.commands import notices
    from ghp_agents.github.commands import service as command
    from ghp_agents.github.tracker import refresh

    progress.note("asking GitHub")
    try:
        if is_asked:
            refresh.forget(ctx.ws, f"{hub.host}/{hub.repository}")
        issues = ctx.tracker.list(closed=True)
        result = command.obey_new(ctx, hub, issues)
    except GhpError as error:
        return [f"Could not read commands on GitHub: {one_line(str(error), 300)}"], (), frozenset()
    issues = ctx.tracker.known(closed=True) if result.issues else issues
    notices.remember(ctx.ws, issues)
    notices.remember_closed(ctx, issues)
    unread = (
        f"Skipped #{number}: cannot read it on GitHub: {why}" for number, why in hub.unread.items()
    )
    ended = merge_queue.observe(ctx.ws, hub)
    return [*moved.notes(ctx.ws, hub), *unread, *ended, *result.notes], issues, result.issues


def _show(
    ctx: Context,
    hub: "GitHubRepository",
    snapshot: Snapshot,
    views: Sequence[AgentView],
    issues: Sequence[Issue],
    wanted: frozenset[int],
    *,
    in_command: bool,
) -> list[str]:
    """Show the state on GitHub; return notes on failures. The next sync tries again."""
    from ghp_agents.escalations import labels
    from ghp_agents.github import job_labels, status_comment_sync
    from ghp_agents.leases import settled_questions

    try:
        notes = labels.show(ctx, settled_questions.read(ctx, snapshot), issues)
        status_comment_sync.refresh(ctx, hub, snapshot, issues, views, wanted)
        if not in_command:  # nobody waits for them
            notes += job_labels.show(ctx, hub, issues, views)
    except UnknownError as error:
        return [f"Not shown on GitHub yet: {one_line(str(error), 300)}"]
    except GhpError as error:
        return [f"Not shown on GitHub: {one_line(str(error), 300)}"]
    return notes


def _together(first: SyncReport, second: SyncReport) -> SyncReport:
    return second._replace(
        fetched=first.fetched or second.fetched,
        pushed=first.pushed or second.pushed,
        news=first.news + second.news,
        refused=first.refused + second.refused,
        notes=(*first.notes, *second.notes),
    )
