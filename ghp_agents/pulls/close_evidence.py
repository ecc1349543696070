"""Evidence that an issue is done, which an agent needs to close it without a reason.

Evidence is a merged pull request of the issue, or a commit on the default branch that names it.
"""

from collections.abc import Sequence

from ghp_agents.claims import service as claims
from ghp_agents.core.clock import to_seconds, to_text
from ghp_agents.core.errors import RefusedError
from ghp_agents.git import process as git
from ghp_agents.git.merge import HEAD_TRAILER
from ghp_agents.issues.issue import PROVISIONAL, Issue, short
from ghp_agents.issues.service import IssueResult
from ghp_agents.ports import Context
from ghp_agents.pulls.pull import Pull
from ghp_agents.settings import rights
from ghp_agents.state.default_branch import trunk_places
from ghp_agents.workspace import Workspace

CLOCK_SKEW_S = 86_400.0  # seconds; a commit may seem older than the issue that it names


def close(ctx: Context, reference: str, reason: str = "") -> IssueResult:
    """Close an issue and release its claim; the reason becomes a comment. Without a reason, an
    agent needs evidence; people and orchestrators do not. Raises RefusedError, UnknownError."""
    actor, orchestrators = ctx.ws.actor(), ctx.ws.settings.orchestrators
    if reason or rights.may_close_without_evidence(actor, orchestrators):
        return claims.close(ctx, reference, reason)
    return claims.close(ctx, reference, require=lambda issue: _require(ctx, issue))


def _require(ctx: Context, issue: Issue) -> None:
    pulls = [pull for pull in ctx.forge.list(closed=True) if pull.issue in issue.numbers]
    if any(pull.state == "merged" for pull in pulls) or _has_commit(ctx.ws, issue, pulls):
        return
    hint = "Finish the work with `ghp agent-finish`, then merge it with `ghp agent-merge`."
    for pull in pulls:
        if pull.state == "open":
            hint = f"Merge its pull request: `ghp agent-merge {pull.number}`."
    name = short(issue)
    raise RefusedError(
        f"Nothing shows that {name} is done. It has no merged pull request, and no commit on "
        "main (as last fetched) names it.",
        hint=f"{hint} If nothing needs to be merged, say why: `ghp agent-issue close "
        f"{name.removeprefix('#')} --reason TEXT`.",
    )


def _has_commit(ws: Workspace, issue: Issue, pulls: Sequence[Pull]) -> bool:
    """Whether a commit on the default branch, here or as last fetched, names the issue (`#12`) or
    merges one of its pull requests. A commit from before the issue names another one."""
    places = trunk_places(ws)
    words = [rf"(^|[^[:alnum:]_])#{n}([^[:alnum:]_]|$)" for n in issue.numbers if n < PROVISIONAL]
    words += [f"^{HEAD_TRAILER}: {pull.head}$" for pull in pulls if pull.head.isalnum()]
    try:
        since = to_text(to_seconds(issue.created_at) - CLOCK_SKEW_S)
    except ValueError:  # another clone wrote it
        return False
    if not places or not words:
        return False
    args = ["log", "--no-show-signature", "--max-count=1", "--format=%H", f"--since={since}", "-E"]
    args += [f"--grep={word}" for word in words]
    return bool(git.check([*args, *places, "--"], cwd=ws.folder).text)
