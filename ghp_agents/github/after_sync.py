"""What a sync does on GitHub: send for others, execute commands by people, show the state."""

from collections.abc import Sequence
from typing import Any

from ghp_agents.core import progress
from ghp_agents.core.errors import GhpError, UnknownError
from ghp_agents.core.ids import one_line
from ghp_agents.escalations import labels
from ghp_agents.github import job_labels, merge_queue, moved, status_comment_sync
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.github.commands import notices
from ghp_agents.github.commands import service as command
from ghp_agents.github.tokenless import send
from ghp_agents.github.tracker import refresh
from ghp_agents.leases import settled_questions
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence.liveness import AgentView
from ghp_agents.world import World

ISSUES = "github issues"  # kept for `show`: all of them
WANTED = "github issues to show"  # the numbers of those that something was done about


def deliver(ctx: Context, hub: GitHubRepository, kept: dict[str, Any]) -> list[str]:
    """Send what clones without a token left; return notes."""
    try:
        sent = send.send_all(ctx, hub)
    except GhpError as error:
        return [f"Not sent for other clones: {one_line(str(error), 300)}"]
    kept[WANTED] = sent.issues
    return [*sent.notes]


def run_commands(
    ctx: Context, hub: GitHubRepository, kept: dict[str, Any], paced: bool, in_command: bool
) -> list[str]:
    """Execute commands by people on GitHub; return notes."""
    progress.note("asking GitHub")
    try:
        if not (paced or in_command):  # somebody waits for what is on GitHub now
            refresh.forget(ctx.ws, f"{hub.host}/{hub.repository}")
        issues = ctx.tracker.list(closed=True)
        result = command.obey_new(ctx, hub, issues)
    except GhpError as error:
        return [f"Could not read commands on GitHub: {one_line(str(error), 300)}"]
    issues = ctx.tracker.known(closed=True) if result.issues else issues
    notices.remember(ctx.ws, issues)
    notices.remember_closed(ctx, issues)
    unread = (
        f"Skipped #{number}: cannot read it on GitHub: {why}" for number, why in hub.unread.items()
    )
    ended = merge_queue.observe(ctx.ws, hub)
    kept[ISSUES], kept[WANTED] = issues, kept.get(WANTED, frozenset()) | result.issues
    return [*moved.notes(ctx.ws, hub), *unread, *ended, *result.notes]


def show(
    ctx: Context,
    hub: GitHubRepository,
    snapshot: Snapshot,
    views: Sequence[AgentView],
    kept: dict[str, Any],
    in_command: bool,
) -> list[str]:
    """Show the state on GitHub; return notes on failures. The next sync tries again."""
    issues = kept.get(ISSUES)
    if not issues:
        return []
    try:
        notes = labels.show(ctx, settled_questions.read(World(ctx, snapshot)), issues)
        status_comment_sync.refresh(ctx, hub, snapshot, issues, views, kept[WANTED])
        if not in_command:  # nobody waits for them
            notes += job_labels.show(ctx, hub, issues, views)
    except UnknownError as error:
        return [f"Not shown on GitHub yet: {one_line(str(error), 300)}"]
    except GhpError as error:
        return [f"Not shown on GitHub: {one_line(str(error), 300)}"]
    return notes
