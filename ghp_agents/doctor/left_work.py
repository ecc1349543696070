"""The doctor's check for work that agents left behind in their worktrees of this clone."""

from collections.abc import Iterator

from ghp_agents.core.finding import Finding, warning
from ghp_agents.hotpath.quoting import path_word
from ghp_agents.ports import Context
from ghp_agents.pulls.merging import left_behind

CODE = "left-work"


def check(ctx: Context) -> Iterator[Finding]:
    """Report files and commits that only a worktree has, though its agent has finished."""
    for left in left_behind.find(ctx, ctx.store.snapshot()):
        text = f"{left.agent} left {left.amount} in {path_word(str(left.folder))}: {left.details}."
        yield warning(CODE, text, f"Save it: {left.command}")
