"""Finish: turn the work in a worktree into a pull request, with the evidence for it.

Each step first checks whether it is already done. So a killed or repeated finish ends with the
same pull request.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from ghp_agents.claims import service as claim
from ghp_agents.core import mentions
from ghp_agents.core.errors import GhpError, RefusedError
from ghp_agents.core.file_names import case_twins, plain
from ghp_agents.core.ids import Actor, AgentName, digest, issue_of_branch, listed, one_line
from ghp_agents.core.json_file import object_file
from ghp_agents.git import changed_paths, own_hooks, worktree
from ghp_agents.git.branch_range import BranchRange, between
from ghp_agents.git.worktree import Difference
from ghp_agents.guard import held_paths
from ghp_agents.handoffs import commits, evidence, missing_commits, what_runs
from ghp_agents.hotpath.quoting import file
from ghp_agents.issues import current_issue
from ghp_agents.issues.issue import Issue, short
from ghp_agents.ports import Context
from ghp_agents.presence import service as presence
from ghp_agents.pulls import body as finish_body
from ghp_agents.pulls import (
    check_cache,
    deliverables,
    run_checks,
    submodule_pointers,
    update_branch,
)
from ghp_agents.pulls.branches import (
    branch_names,
    branch_records,
    other_branches,
    rewritten_main,
)
from ghp_agents.pulls.check import Check, red, tail
from ghp_agents.pulls.pull import NewPull, Pull
from ghp_agents.pulls.run_checks import Tell
from ghp_agents.pulls.update_branch import Tips
from ghp_agents.workspace import Workspace
from ghp_agents.worktrees import checkout, provisioned_files

LISTED = 10
SILENT_HOOK = "pre-push.json"  # in the folder of caches: the hook of which it was said
WHY_LIMIT = 200  # characters of why it failed, in the presence


class Finished(NamedTuple):
    """The pull request, and the evidence for it."""

    pull: Pull
    is_new: bool
    issue: Issue
    checks: tuple[Check, ...]
    commits: int
    updated: bool  # the branch was updated to the default branch
    notes: tuple[str, ...] = ()


class ChecksFailedError(GhpError):
    """A configured check did not pass."""


def finish(
    ctx: Context, *, issue: str | None = None, draft: bool = False, tell: Tell = lambda _: None
) -> Finished:
    """Open a pull request for the branch that is checked out here, or update it.

    Raises RefusedError (claim held by another, uncommitted work, a conflict), ChecksFailedError,
    UnknownError; the commits are then unchanged.
    """
    with _pointing_to_own_worktree(ctx):
        subject = subject_of(ctx, issue)
        other_branches.refuse_elsewhere(ctx.ws, subject.actor, subject.issue, subject.branch)
        claim.verify(ctx, subject.actor.name, subject.issue.number)
    with noting_failure(ctx, subject.actor):
        refuse_unfinished(ctx.ws)
        head = worktree.head(ctx.ws.folder)
        tips = update_branch.compare_with_remote(ctx.ws, subject.base, subject.branch, head)
        notes = refuse_forbidden(ctx, subject, tips, draft=draft)
        head, checks = run_all_checks(ctx, subject, tips, draft=draft, tell=tell)
        if checks:  # they can take long
            claim.verify(ctx, subject.actor.name, subject.issue.number)
        return publish(ctx, subject, tips, head, checks, draft=draft, notes=notes)


class FinishSubject(NamedTuple):
    """What is to be finished, and by whom."""

    actor: Actor
    issue: Issue
    base: str
    branch: str


def subject_of(ctx: Context, issue: str | None) -> FinishSubject:
    """The issue and the branch of this worktree. Raises RefusedError."""
    actor = ctx.ws.actor()
    base, branch = update_branch.branch_of_work(
        ctx.ws, on_main="Run this in the worktree that `ghp agent-start` created."
    )
    chosen = ctx.tracker.get(issue or _issue(ctx.ws, actor.name, branch))
    return FinishSubject(actor, chosen, base, branch)


def refuse_forbidden(
    ctx: Context, subject: FinishSubject, tips: Tips, *, draft: bool, fetch: bool = True
) -> tuple[str, ...]:
    """Refuse commits that must not be sent; returns warnings. Without `fetch`, leases are those
    that this clone knows. Raises RefusedError, UnknownError."""
    branch_records.refuse_other(ctx, subject.branch, subject.issue)
    added = between(ctx.ws.folder, tips.trunk, tips.head)
    rewritten_main.refuse(ctx, tips.base, tips.trunk, subject.branch, tips.head)
    _refuse_missing(ctx, subject)
    if added.forks == (tips.head,):
        raise _empty(tips, subject.issue.number)
    _refuse_provisioned(ctx.ws, tips)
    deliverables.refuse_missing(ctx.ws.folder, subject.issue, tips.head, draft=draft)
    added.count_lines()  # the page needs them, and git counts them with the changes
    submodule_pointers.refuse(ctx.ws, tips.trunk, tips.head)
    if not subject.actor.is_person:
        _refuse_mentions(ctx.ws, added)
    held = held_paths.refuse(ctx, subject.actor, added.paths, fetch=fetch)
    held = (*held, *_twin_names(ctx.ws, tips.trunk, added))
    if not subject.actor.is_person:
        who = subject.actor.name
        held += (*other_branches.warnings(
            ctx.ws, subject.issue, who, subject.branch, tips.head, tips.trunk
        ),)  # fmt: skip
    changes = what_runs.of_branch(ctx.ws.folder, tips.trunk, tips.head)
    if not changes.words:
        return held
    waits = changes.running and not subject.actor.is_person
    then = " A person must approve it before it is merged." if waits else ""
    return (*held, f"This changes {changes.words}.{then}")


def run_all_checks(
    ctx: Context, subject: FinishSubject, tips: Tips, *, draft: bool, tell: Tell
) -> tuple[str, tuple[Check, ...]]:
    """Bring the branch up to main and run the checks; returns its new head, and the checks. Raises
    RefusedError, ChecksFailedError."""
    head = update_branch.bring_up(ctx.ws, tips, subject.actor.name)
    rules = run_checks.rules(ctx.ws, tips.trunk)
    checks = run_checks.run(ctx.ws, rules, ctx.ws.folder, subject.branch, tell)
    _refuse_failed(ctx.ws, checks, subject.branch, head, draft=draft)
    if checks:
        check_cache.remember(ctx.ws, rules, worktree.tree(ctx.ws.folder, head), checks)
    return head, checks


def publish(
    ctx: Context,
    subject: FinishSubject,
    tips: Tips,
    head: str,
    checks: tuple[Check, ...],
    *,
    draft: bool,
    notes: tuple[str, ...] = (),
) -> Finished:
    """Push the branch and open its pull request. Raises RefusedError, UnknownError."""
    actor, issue, branch, base = subject.actor, subject.issue, subject.branch, tips.base
    update_branch.send(ctx.ws, tips, head)
    notes = (*notes, *_silent_hook(ctx.ws))
    about = evidence.topic(ctx, actor, str(issue.number))
    work_branch = evidence.branch(ctx.ws)
    body = finish_body.body(
        ctx.ws,
        about,
        work_branch,
        evidence.topic_facts(ctx, about),
        checks,
    )
    previous = ctx.forge.find(branch)
    new = NewPull(branch, base, head, issue.title, body, issue.number, draft)
    pull = ctx.forge.open(new, actor)
    if not actor.is_person:
        shown = "its pull request waits" if pull.waits else f"#{pull.number}"
        fields: dict[str, object] = {
            "status": "reviewing",
            "lastAction": f"Finished {short(issue)}: {shown}",
            "unfinished": "",
        }
        fields |= {} if pull.waits else {"pull": pull.number}
        presence.heartbeat(ctx.ws, ctx.store, AgentName(actor.name), fields, progress=True)
    is_new = previous is None or previous.number != pull.number
    notes += about.notes + (() if checks else (run_checks.NONE,))
    return Finished(
        pull, is_new, issue, checks, work_branch.history.total, head != tips.head, notes
    )


def _twin_names(ws: Workspace, trunk: str, added: BranchRange) -> Iterator[str]:
    """Warn of new names that differ only in case from others."""
    new = [change.path for change in added.changes if change.kind == "A"]
    if not new:
        return
    gone = {change.path for change in added.changes if change.kind == "D"}
    present = {entry.path for entry in changed_paths.all_in(ws.folder, trunk)} - gone
    for name, other in [*case_twins(new, present)][:LISTED]:
        yield (
            f"{file(name)} and {file(other)} differ only in case: on macOS and Windows this is one "
            "name. Choose one spelling."
        )


def _silent_hook(ws: Workspace) -> Iterator[str]:
    """Say once that a hook of the project did not run."""
    hook = own_hooks.pre_push(ws.folder, ws.common_dir)
    noted = object_file(ws.cache_dir / SILENT_HOOK)
    if hook and noted.read().get("hook") != digest(hook[1]):
        noted.write({"hook": digest(hook[1])})
        yield (
            f"{ws.shown(hook[0])} did not run: our pushes run no hooks. List what it checks in "
            "`agents.checks`; what else it does, do by hand."
        )


@contextmanager
def noting_failure(ctx: Context, actor: Actor) -> Iterator[None]:
    """Others see that the work is not finished, and why, until it is: also if the session ends."""
    try:
        yield
    except GhpError as error:
        if not actor.is_person:
            why = one_line(str(error).partition("\n")[0], WHY_LIMIT)
            fields = {"lastAction": f"Not finished: {why}", "unfinished": why}
            presence.heartbeat(ctx.ws, ctx.store, AgentName(actor.name), fields)
        raise


@contextmanager
def _pointing_to_own_worktree(ctx: Context) -> Iterator[None]:
    """A refusal in another worktree than the actor's own names its own, of an issue that it
    holds."""
    try:
        yield
    except RefusedError as error:
        ws, name = ctx.ws, ctx.ws.actor().name
        mine = current_issue.held(ctx, name)
        own = checkout.of_agent(ws.folder, name, mine)
        if own is None or own.path.resolve() == ws.folder.resolve():
            raise
        if (issue_of_branch(own.branch or "") or 0) not in (*mine, 0):
            raise  # its claim ended, too
        command = f"`cd {quote(str(own.path))} && ghp agent-finish`"
        raise RefusedError(str(error), hint=f"{name} works elsewhere: {command}.") from None


def _issue(ws: Workspace, name: str, branch: str) -> int:
    number = issue_of_branch(branch) or ws.issue_in_hand(name)
    if number is None:
        raise RefusedError(
            f"Cannot tell which issue {branch} belongs to.",
            hint="Name it: `ghp agent-finish --issue 12`.",
        )
    return number


def unfinished(ws: Workspace, folder: Path) -> list[str]:
    """List what differs from the last commit in a worktree, except provisioned files."""
    return [plain(difference.path) for difference in provisioned_files.differences(ws, folder)]


def refuse_unfinished(ws: Workspace) -> None:
    """Raise RefusedError if a git operation is in progress here, or something is not committed."""
    update_branch.refuse_operation(ws)
    left = unfinished(ws, ws.folder)
    if left:
        raise RefusedError(
            f"There are uncommitted changes: {listed(left, LISTED)}.",
            hint="Commit them, or save them for the next agent with `ghp agent-handoff`. To leave "
            "them out: save them by name with `ghp agent-handoff --checkpoint`, then undo them.",
        )


def _refuse_missing(ctx: Context, subject: FinishSubject) -> None:
    """Refuse a branch without the commits that were handed over last: nobody would miss them."""
    number, branch = subject.issue.number, subject.branch
    last = missing_commits.last_handed(ctx.store, number)
    if last:
        commits.unpack(ctx.ws, ctx.store, last)
    missing = missing_commits.of(ctx.ws, ctx.store, last)
    # A branch with another name was begun without commits that cannot be had.
    if last is None or missing is None or not (missing.total or last.branch == branch):
        return
    left_out = f"git branch -m {branch_names.ANEW.format(number)}"
    if missing.total:
        left_out = f"git merge -s ours {last.head[:12]}"
    raise RefusedError(
        f"Not on {file(branch)}: {missing.text}.",
        hint=f"Run `{missing.command}`. To leave them out on purpose: `{left_out}`.",
    )


def _empty(tips: Tips, issue: int) -> RefusedError:
    return RefusedError(
        f"There is nothing to finish: {tips.branch} has no commits since {tips.base}.",
        hint="Commit your work first. If nothing needs to change, close the issue: `ghp "
        f"agent-issue close {issue} --reason WHY`.",
    )


def _refuse_mentions(ws: Workspace, added: BranchRange) -> None:
    """Messages of commits are pushed as they are, so nothing can be broken in them."""
    names = ws.settings.mentionable
    starting = [oid for oid, text in added.messages if mentions.starts_agent(text, names)]
    if starting:
        raise RefusedError(
            f"The message of {listed(starting, LISTED)} mentions another agent, or commands a bot: "
            "it could start where the commit is pushed.",
            hint="Write the name without `@` or `/`: `git commit --amend` for the last commit, "
            "`git rebase -i` for an older one. Then run `ghp agent-finish` again.",
        )


def _refuse_provisioned(ws: Workspace, tips: Tips) -> None:
    paths = provisioned_files.committed(ws, tips.trunk, tips.head)
    if not paths:
        return
    names = " ".join(plain(name) for name in paths[:LISTED])
    out = f"`git rm --cached {names}`, and commit"
    if not all(Path(ws.place.toplevel or "", name).is_symlink() for name in paths):
        since = f'`git reset --soft "$(git merge-base HEAD {tips.trunk[:12]})"`'
        out = f"a file stays in every commit that has it, so first {since}; then {out}"
    raise RefusedError(
        f"Your commits contain files that `ghp agent-start` copied into this worktree: {names}.",
        hint=f"Remove them: {out}. Add them to .gitignore; for a link, without a / at the end.",
    )


def _refuse_failed(
    ws: Workspace, checks: tuple[Check, ...], branch: str, head: str, *, draft: bool
) -> None:
    failed = red(checks)
    if failed and not draft:
        output = f"\n{tail(failed.output)}" if failed.output else ""
        raise ChecksFailedError(
            f"{failed.line}.{output}",
            hint=f"Nothing was pushed. Full output: {run_checks.kept_in(ws, branch)}. To push "
            "it as a draft: `ghp agent-finish --draft`.",
        )
    left = provisioned_files.differences(ws, ws.folder) if checks else []
    if left or worktree.head(ws.folder) != head:
        raise _changed_by_checks(left)


def _changed_by_checks(left: Sequence[Difference]) -> RefusedError:
    """The refusal of work that differs from its commits after the checks. A new file is usually
    build output, which nobody should commit."""
    new_files = [plain(difference.path) for difference in left if difference.code == "??"]
    if new_files and len(new_files) == len(left):
        return RefusedError(
            f"The checks made files that git does not ignore: {listed(new_files, LISTED)}.",
            hint="If they are build output, add them to .gitignore and commit that. If not, "
            "commit them. Then finish again.",
        )
    changed = [plain(difference.path) for difference in left]
    return RefusedError(
        "The checks changed files while they ran: "
        f"{listed(changed, LISTED) if changed else 'the branch itself'}.",
        hint="Commit these changes, then finish again. Add build output to .gitignore.",
    )
