"""What became of an issue: its worktree, its pull requests and its last handoff."""

from typing import NamedTuple

from ghp_agents.git.worktree_admin import Checkout
from ghp_agents.handoffs import latest
from ghp_agents.handoffs.handoff import Handoff
from ghp_agents.issues.issue import Issue
from ghp_agents.ports import Context
from ghp_agents.pulls.branches import branch_records
from ghp_agents.pulls.pull import Pull
from ghp_agents.worktrees import checkout


class IssueWork(NamedTuple):
    """The work on an issue, as far as there is any."""

    checkout: Checkout | None = None  # in this clone
    pulls: tuple[Pull, ...] = ()  # oldest first
    handoff: Handoff | None = None  # that holds the work; or a checkpoint


def read_work(ctx: Context, issue: Issue) -> IssueWork:
    """Read the work on an issue; of a host's pull requests only the open ones, because listing all
    takes many requests. Raises UnknownError."""
    pulls = ctx.forge.list(closed=ctx.forge.is_local)
    its_own = tuple(pull for pull in pulls if pull.issue in issue.numbers)
    return without_pulls(ctx, issue)._replace(pulls=its_own)


def without_pulls(ctx: Context, issue: Issue) -> IssueWork:
    """Read what this clone knows of the work, without its pull requests."""
    recorded = branch_records.recorded_for(ctx.store.snapshot(), issue)
    here = checkout.of_issue(ctx.ws.folder, issue.numbers, recorded)
    return IssueWork(here, handoff=latest.of_issue(ctx.store.snapshot(), issue.numbers))
