"""Workflows in a sync: start those that labels ask for, and do the next steps of all."""

from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import one_line
from ghp_agents.messages import mailbox
from ghp_agents.ports import Context
from ghp_agents.state.sender_budget import SenderBudget


def advance(ctx: Context, budget: SenderBudget, in_command: bool) -> list[str]:
    """Return notes. A workflow that is wrong stops no sync."""
    if in_command and not mailbox.of_workflows(ctx.ws, ctx.store.snapshot()):
        return []
    from ghp_agents.workflows import service as workflows
    from ghp_agents.workflows.starts import by_labels

    try:
        labels = () if in_command else by_labels(ctx, budget)
        return [*labels, *workflows.advance(ctx, budget)]
    except GhpError as error:
        return [f"Workflows wait: {one_line(str(error), 300)}"]
