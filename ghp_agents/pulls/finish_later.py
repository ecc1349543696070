"""A finish in two halves, for a sandbox that does not reach the remote.

Inside, the agent's command refuses what must be refused, runs the checks and leaves a request: a
file that its supervisor named. Outside, the supervisor refuses again what the remote knows, pushes,
and opens the pull request. It runs no program of the agent: the run says which checks passed. That
is enough to open a pull request. The merge queue believes no run, and runs the checks again.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ghp_agents.claims import service as claim
from ghp_agents.core.errors import RefusedError
from ghp_agents.git import worktree
from ghp_agents.handoffs import evidence
from ghp_agents.hotpath.background import BOX, BOX_FILE
from ghp_agents.ports import Context
from ghp_agents.pulls import check_cache, finish, run_checks, update_branch
from ghp_agents.pulls.check import Check
from ghp_agents.pulls.finish import Finished, FinishSubject
from ghp_agents.pulls.pull import no_base
from ghp_agents.pulls.run_checks import Tell
from ghp_agents.pulls.update_branch import Tips
from ghp_agents.state import remote_branches as branches

REQUEST_LIMIT = 100_000  # bytes


class FinishRequest(NamedTuple):
    """What a run leaves to its supervisor."""

    head: str
    draft: bool
    passed: tuple[str, ...] = ()  # the checks that passed, as the run says


class LeftFinish(NamedTuple):
    """The half of a finish that a sandbox can do."""

    subject: FinishSubject
    head: str
    checks: tuple[Check, ...]
    commits: int
    updated: bool  # the branch was updated to the default branch
    notes: tuple[str, ...]


def is_needed(environ: Mapping[str, str]) -> bool:
    """Whether this process is in a run whose supervisor sends what it finishes."""
    return bool(environ.get(BOX))


def leave(ctx: Context, *, issue: str | None, draft: bool, tell: Tell) -> LeftFinish:
    """Do all that needs no remote, and leave the rest to the supervisor. Raises RefusedError,
    ChecksFailedError, OSError."""
    subject = finish.subject_of(ctx, issue)
    with finish.noting_failure(ctx, subject.actor):
        finish.refuse_unfinished(ctx.ws)
        tips = _known_tips(ctx, subject)
        notes = finish.refuse_forbidden(ctx, subject, tips, draft=draft, fetch=False)
        head, checks = finish.run_all_checks(ctx, subject, tips, draft=draft, tell=tell)
    passed = [check.command for check in checks if check.code == 0]
    request = {"issue": int(subject.issue.number), "head": head, "draft": draft, "passed": passed}
    # Only this one file of the folder can be written, so it is not replaced.
    Path(ctx.ws.environ[BOX]).write_text(json.dumps(request), "ascii")
    count = evidence.branch(ctx.ws).history.total
    return LeftFinish(subject, head, checks, count, head != tips.head, notes)


def _known_tips(ctx: Context, subject: FinishSubject) -> Tips:
    """The tips as last fetched. Raises RefusedError."""
    trunk = branches.known_tip(ctx.ws, subject.base)
    if not trunk:
        raise no_base(subject.base)
    return Tips(subject.base, trunk, subject.branch, worktree.head(ctx.ws.folder), None)


def request_of(place: Path, issue: int) -> FinishRequest | None:
    """What the run with this folder left for this issue. The agent can write there."""
    try:
        with (place / BOX_FILE).open("rb") as file:
            fields = json.loads(file.read(REQUEST_LIMIT))
    except (OSError, ValueError, RecursionError):
        return None
    match fields:
        case {"issue": int() as named, "head": str() as head, "draft": bool() as draft}:
            passed = fields.get("passed")
            words = tuple(map(str, passed)) if isinstance(passed, list) else ()
            return FinishRequest(head, draft, words) if named == issue else None
    return None


def complete(ctx: Context, request: FinishRequest, issue: int) -> Finished:
    """Send what a run has finished, with the checks that it says passed there. Raises RefusedError,
    UnknownError."""
    subject, draft = finish.subject_of(ctx, str(issue)), request.draft
    claim.verify(ctx, subject.actor.name, issue)
    finish.refuse_unfinished(ctx.ws)
    head = worktree.head(ctx.ws.folder)
    if head != request.head:
        raise RefusedError(
            "Commits were added after `ghp agent-finish`.", hint="Run `ghp agent-finish` again."
        )
    tips = update_branch.compare_with_remote(ctx.ws, subject.base, subject.branch, head)
    notes = finish.refuse_forbidden(ctx, subject, tips, draft=draft)
    checks = _passed(ctx, request, tips, draft=draft)
    return finish.publish(ctx, subject, tips, tips.head, checks, draft=draft, notes=notes)


def _passed(ctx: Context, request: FinishRequest, tips: Tips, *, draft: bool) -> tuple[Check, ...]:
    rules = run_checks.rules(ctx.ws, tips.trunk)
    checks = check_cache.passed(ctx.ws, rules, worktree.tree(ctx.ws.folder, tips.head))
    if checks is None and {*rules.checks} <= {*request.passed}:
        checks = tuple(Check(command, 0, before=True) for command in rules.checks)
    if checks is None and not draft:
        raise RefusedError(
            "The checks have not passed on this commit.", hint="Run `ghp agent-finish` again."
        )
    return checks or ()
