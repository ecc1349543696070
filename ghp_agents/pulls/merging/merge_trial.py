"""A trial merge of a pull request: built without touching any branch or worktree, then checked."""

from pathlib import Path
from typing import NamedTuple

from ghp_agents.claims.effects import ClaimContext
from ghp_agents.core.errors import RefusedError, UnknownError
from ghp_agents.git import merge, worktree
from ghp_agents.ports import Forge
from ghp_agents.pulls import check_cache, run_checks, update_branch
from ghp_agents.pulls.check import Check, red
from ghp_agents.pulls.check_place import CheckPlace, check_place
from ghp_agents.pulls.pull import EnqueuedError, Pull, no_base
from ghp_agents.pulls.run_checks import Tell
from ghp_agents.pulls.update_branch import Tips
from ghp_agents.settings.settings import Settings
from ghp_agents.state import remote_branches as branches
from ghp_agents.state.remote import PushOutcome
from ghp_agents.workspace import Workspace

UNREAD = "This token lacks the permission to read {unread}, so not all checks of the host are seen."
ONLY_ACTIONS = (
    "This token cannot read check runs. Runs of GitHub Actions and statuses count instead; checks "
    "of other apps are not seen."
)


class Merger(NamedTuple):
    """Who merges, and the tools for it."""

    me: ClaimContext
    cwd: Path
    tell: Tell
    shown: set[str]  # sentences that a command shows once
    red_mains: dict[object, RefusedError]  # by a default branch's tip and what was merged with it
    unchecked: bool = False  # merge also what nothing checks

    @property
    def ws(self) -> Workspace:
        """The workspace."""
        return self.me.ctx.ws

    @property
    def forge(self) -> Forge:
        """The pull requests."""
        return self.me.ctx.forge


class UncheckedError(RefusedError):
    """There are no checks for what would be merged."""


class TrialLook(NamedTuple):
    """One trial: the branch's head, the default branch's tip, and the result of their merge."""

    head: str
    trunk: str
    candidate: str
    conflicts: tuple[str, ...] = ()
    is_there: bool = False  # already merged: a command was killed before it recorded it


def try_merge(who: Merger, pull: Pull) -> TrialLook:
    current = branches.tips(who.ws, pull.branch, pull.base)
    folder, by = who.ws.folder, who.me.name
    head, trunk = current.get(pull.branch), current.get(pull.base)
    if trunk is None:
        raise no_base(pull.base)
    if head is None:
        if who.forge.is_local and merge.landed(folder, trunk, pull.head):
            return TrialLook(pull.head, trunk, trunk, is_there=True)
        raise branch_gone(pull)
    branches.connect(who.ws, pull.base, current)
    if worktree.contains(folder, head, trunk):
        return TrialLook(head, trunk, head)
    if who.forge.is_local:
        if merge.landed(folder, trunk, head):
            return TrialLook(head, trunk, trunk, is_there=True)
        method, scratch = who.ws.settings.merge_method, who.ws.ghp_dir
        identity = branches.identity(who.ws, by)
        result = merge.merge_commits(folder, scratch, trunk, head, method, "Try", identity)
    else:
        tips = Tips(pull.base, trunk, pull.branch, head, None)
        result = update_branch.combined(who.ws, tips, by, "merge")
    return TrialLook(head, trunk, result.oid, result.conflicts)


def branch_gone(pull: Pull) -> RefusedError:
    """Return the error for a pull request without a branch."""
    return RefusedError(
        f"{pull.branch}, the branch of #{pull.number}, no longer exists.",
        hint="Push it again with `ghp agent-finish` in its worktree.",
    )


def ready_for_the_host(who: Merger, pull: Pull, tried: TrialLook) -> TrialLook:
    """Update the branch first where a host merges: it checks the branch, not the result. A host
    that checked the branch before needs a moment to start the new checks."""
    if who.forge.is_local or tried.candidate == tried.head:
        return tried
    place = who.forge.place_in_queue(pull.number)
    if place is not None:
        raise EnqueuedError(pull, place)
    before = who.forge.checks(pull._replace(head=tried.head))
    _bring_up(who, pull, tried)
    if before.state != "none" and _has_no_checks(who, pull._replace(head=tried.candidate)):
        raise _running_error(pull)
    return tried._replace(head=tried.candidate)


def _has_no_checks(who: Merger, pull: Pull) -> bool:
    return who.forge.checks(pull).state == "none"


def _bring_up(who: Merger, pull: Pull, tried: TrialLook) -> None:
    pushed = branches.push(who.ws, tried.candidate, pull.branch, expected=tried.head)
    if pushed.answer is PushOutcome.DONE:
        who.tell(f"Merged {pull.base} into {pull.branch}.")
        return
    if pushed.answer is PushOutcome.UNKNOWN:
        raise UnknownError(
            f"It is unknown whether {pull.branch} was pushed: {pushed.words}", hint="Try again."
        )
    raise RefusedError(
        f"Cannot update {pull.branch} from {pull.base}: {pushed.words}.",
        hint="It may have moved meanwhile. Try again.",
    )


def check(who: Merger, pull: Pull, tried: TrialLook) -> tuple[Check, ...]:
    """Run the checks on the result of the merge, in a temporary worktree. A failure counts only
    after `agents.retryFailedChecks` more. Raises RefusedError if main itself fails."""
    rules = run_checks.rules(who.ws, tried.trunk)
    if not rules.checks:
        refuse_unchecked(who, pull, tried.head)
        return ()
    earlier = check_cache.passed(who.ws, rules, worktree.tree(who.ws.folder, tried.candidate))
    if earlier:
        return earlier
    with check_place(who.me.ctx) as place:
        checks = _run(who, rules, place, tried.candidate, pull.branch)
        error = red_main(who, rules, place, pull.base, tried.trunk) if red(checks) else None
    if error:
        raise error
    return checks


def _run(
    who: Merger, rules: Settings, place: CheckPlace, commit: str, branch: str
) -> tuple[Check, ...]:
    """Run the checks on a commit, the failed ones again, and remember what passed."""
    for repeated in range(rules.retry_failed_checks + 1):
        if repeated:
            who.tell("Repeating the failed check: one failure does not count.")
        checks = run_checks.run(who.ws, rules, place.at(commit), branch, who.tell)
        if not red(checks):
            break
    check_cache.remember(who.ws, rules, worktree.tree(who.ws.folder, commit), checks)
    return checks


def red_main(
    who: Merger, rules: Settings, place: CheckPlace, base: str, trunk: str
) -> RefusedError | None:
    """The error if the checks fail on the default branch itself: then no pull request is sent back
    for it. What passed before is not run again."""
    if check_cache.passed(who.ws, rules, worktree.tree(who.ws.folder, trunk)):
        return None
    who.tell(f"Checking {base} itself.")
    failed = red(_run(who, rules, place, trunk, base))
    return failed and RefusedError(
        f"On {base} itself, {failed.line}, so no pull request is sent back for it.",
        hint=f"Repair {base} first. The output is in {run_checks.kept_in(who.ws, base)}.",
    )


def refuse_unchecked(who: Merger, pull: Pull, head: str) -> None:
    """Refuse when neither this configuration nor the host has checks."""
    if who.unchecked:
        if who.forge.is_local:
            who.tell(run_checks.NONE)
        return
    checks = who.forge.checks(pull._replace(head=head))
    if checks.unread:
        raise UncheckedError(
            f"Cannot check #{pull.number}: this token lacks the permission to read "
            f"{checks.unread}, so its checks on the host are unknown.",
            hint=f"Give the token read access to {checks.unread}, or list commands in "
            "`agents.checks`. To merge without checks: "
            f"`ghp agent-merge {pull.number} --unchecked`.",
        )
    if checks.state == "none":
        raise UncheckedError(
            f"Cannot check #{pull.number}. {run_checks.NONE}",
            hint="Configure checks on the main branch, or merge without checks: `ghp "
            f"agent-merge {pull.number} --unchecked`.",
        )


def of_the_host(who: Merger, pull: Pull) -> str:
    """Return the host's failed checks in words. Raises RefusedError while they run."""
    checks = who.forge.checks(pull)
    text = UNREAD.format(unread=checks.unread) if checks.unread else ONLY_ACTIONS
    if (checks.unread or checks.only_actions) and text not in who.shown:
        who.shown.add(text)
        who.tell(text)
    if checks.state == "pending":
        raise _running_error(pull)
    if checks.state != "red":
        return ""
    return "\n".join(f"{name}: {conclusion}" for name, conclusion in checks.details)


def _running_error(pull: Pull) -> RefusedError:
    return RefusedError(
        f"The checks of #{pull.number} are still running.",
        hint="Try again when they are done. `ghp agent-merge --queue` skips it.",
    )
