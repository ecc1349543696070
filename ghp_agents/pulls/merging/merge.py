"""Merge: one pull request onto the default branch, on evidence only.

The result of the merge is built and checked first. It is published only if neither branch has
moved meanwhile; otherwise the merge starts over.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.claims.effects import myself
from ghp_agents.core.errors import NotFoundError, UnknownError, UsageError, sentence
from ghp_agents.core.ids import Actor
from ghp_agents.git import changed_paths, worktree
from ghp_agents.git import process as git
from ghp_agents.guard import held_paths
from ghp_agents.issues.issue import Issue
from ghp_agents.locks.held import HeldLock
from ghp_agents.ports import Context
from ghp_agents.pulls import submodule_pointers
from ghp_agents.pulls.branches import rewritten_main
from ghp_agents.pulls.check import Check, red, tail
from ghp_agents.pulls.merging import (
    cleanup,
    merge_evidence,
    merge_lock,
    merge_trial,
    record_review,
)
from ghp_agents.pulls.merging.cleanup import MergedWork
from ghp_agents.pulls.merging.merge_trial import Merger, TrialLook
from ghp_agents.pulls.merging.send_back import SentBack, send_back
from ghp_agents.pulls.pull import EnqueuedError, Pull, PullMovedError, refuse_unready
from ghp_agents.pulls.run_checks import Tell

ATTEMPTS = 10  # retries happen when the branch or the default branch moved


class Merged(NamedTuple):
    """A pull request that is on the default branch."""

    pull: Pull
    issue: Issue | None
    checks: tuple[Check, ...] = ()
    notes: tuple[str, ...] = ()  # what was kept, and why
    before: bool = False  # it was merged already
    by: str = ""  # the committer of the merge, then
    warnings: tuple[str, ...] = ()  # of leases that others had


class Enqueued(NamedTuple):
    """A pull request in the host's merge queue, which checks and merges it."""

    pull: Pull
    place: int  # from 1; 0 if unknown

    @property
    def why(self) -> str:
        """Why it is not merged yet."""
        return "it is in the host's merge queue"


Outcome = Merged | SentBack | Enqueued


def merger(
    ctx: Context, *, cwd: Path, tell: Tell = lambda _: None, unchecked: bool = False
) -> Merger:
    """Return the merger in the folder `cwd`; `unchecked` also merges what has no checks. Raises
    NotSetUpError."""
    return Merger(myself(ctx), cwd, tell, set(), {}, unchecked)


def merge(who: Merger, reference: str | None, *, patience: float = 0.0) -> Outcome:
    """Merge a pull request, or send it back. `reference` is its number or its issue's; None means
    the branch here. Raises RefusedError, NotFoundError, UnknownError."""
    pull = _find_or_sync(who, reference)
    if pull.state == "merged":
        return clean_up(who, pull, (), before=True)
    refuse_unready(pull)
    with merge_lock.held(who.me, f"merges #{pull.number}", patience=patience) as lock:
        return merge_one(who, lock, pull.number, by_name=True)


def _find_or_sync(who: Merger, reference: str | None) -> Pull:
    """Find the pull request; sync once if it is missing: another clone may have opened it."""
    try:
        return find(who, reference)
    except NotFoundError:
        if not fetched_more(who):
            raise
    return find(who, reference)


def fetched_more(who: Merger) -> bool:
    """Fetch, even if the last fetch is recent; return whether something new came. Only for local
    pull requests: a host knows its own."""
    remote = who.me.ctx.store
    return who.forge.is_local and bool(remote.remote()) and remote.sync(push=False).fetched


def find(who: Merger, reference: str | None) -> Pull:
    """Find the pull request that `reference` names. Raises NotFoundError, UsageError."""
    if reference is None:
        current = who.forge.find(who.ws.branch) if who.ws.branch else None
        if current is None:
            raise UsageError(
                "Name a pull request or its issue.",
                hint="Run `ghp agent-merge 12`, or `ghp agent-merge --queue` to merge all that "
                "are ready.",
            )
        return current
    digits = reference.strip().removeprefix("#")
    if digits.isascii() and digits.isdigit():
        try:
            return who.forge.get(int(digits))
        except NotFoundError:
            pass
    issue = who.me.ctx.tracker.get(reference)
    pulls = [pull for pull in who.forge.list(closed=True) if pull.issue in issue.numbers]
    chosen = [pull for pull in pulls if pull.state == "open"] or pulls
    if not chosen:
        raise NotFoundError(
            f"There is no pull request for #{issue.number}.",
            hint="Run `ghp agent-finish` in the issue's worktree to open one.",
        )
    return chosen[-1]


def merge_one(who: Merger, lock: HeldLock, number: int, *, by_name: bool) -> Outcome:
    """Merge a pull request, or send it back. Raises RefusedError, UnknownError."""
    for _ in range(ATTEMPTS):
        pull = who.forge.get(number)
        if pull.state == "merged":
            return clean_up(who, pull, (), before=True)
        refuse_unready(pull)
        tried = merge_trial.try_merge(who, pull)
        if not tried.is_there:
            rewritten_main.refuse(who.me.ctx, pull.base, tried.trunk, pull.branch, tried.head)
            merge_evidence.require(who, pull, tried, by_name=by_name)
            record_review.require(who, pull, tried, by_name=by_name)
        if tried.conflicts:
            return _send_back(who, pull, tried, "conflict", "\n".join(tried.conflicts))
        warnings: tuple[str, ...] = ()
        if not tried.is_there:
            paths = changed_paths.differing(who.ws.folder, tried.trunk, tried.candidate)
            submodule_pointers.refuse(who.ws, tried.trunk, tried.candidate)
            warnings = record_review.require_person(who, pull, tried, by_name=by_name)
            warnings += refuse_held(who, pull, paths)
        lock.renew(merge_lock.from_here(who.me, f"checks #{number}"))
        checks = () if tried.is_there else merge_trial.check(who, pull, tried)
        failed = red(checks)
        if failed:
            return _send_back(who, pull, tried, "checks", report(failed))
        try:
            tried = merge_trial.ready_for_the_host(who, pull, tried)
        except EnqueuedError as queued:
            return Enqueued(pull, queued.place)
        failures = merge_trial.of_the_host(who, pull._replace(head=tried.head))
        if failures:
            return _send_back(who, pull, tried, "checks", failures)
        lock.confirm()
        try:
            done = who.forge.merge(number, who.me.actor, head=tried.head, onto=tried.trunk)
        except PullMovedError as moved:
            who.tell(f"{sentence(moved)} Checking it again.")
            continue
        except EnqueuedError as queued:
            return Enqueued(queued.pull, queued.place)
        cleaned = clean_up(who, done, checks, before=tried.is_there)
        return cleaned._replace(warnings=warnings)
    raise UnknownError(
        f"#{number} or the main branch moved {ATTEMPTS} times while this command "
        "tried to merge it.",
        hint="Try again later.",
    )


def refuse_held(
    who: Merger, pull: Pull, paths: Sequence[str], *, fetch: bool = True
) -> tuple[str, ...]:
    """Refuse the merge if others hold paths that it changes. Return warnings for a person."""
    by = pull.sent.by if pull.sent else Actor(pull.author, is_person=True)
    return held_paths.refuse(who.me.ctx, by, paths, by=who.me.actor, fetch=fetch)


def report(failed: Check) -> str:
    """Return the report on a failed check for the agent."""
    return f"{failed.line}\n{tail(failed.output, limit=6_000, lines=80)}"


def _send_back(who: Merger, pull: Pull, tried: TrialLook, reason: str, text: str) -> SentBack:
    return send_back(who.me, pull, head=tried.head, trunk=tried.trunk, reason=reason, text=text)


def clean_up(
    who: Merger, pull: Pull, checks: tuple[Check, ...] = (), *, before: bool = False
) -> Merged:
    """Clean up after a merge; `before`: it was merged already."""
    return clean_up_all(who, [pull], checks, before=before)[0]


def clean_up_all(
    who: Merger, pulls: Sequence[Pull], checks: tuple[Check, ...] = (), *, before: bool = False
) -> list[Merged]:
    """Clean up after merges of one batch."""
    work = [MergedWork(pull, _issue(who, pull)) for pull in pulls]
    notes = cleanup.clean_up(who.me, work, who.cwd)
    return [
        Merged(
            pull, issue and issue._replace(state="closed"), checks, tuple(notes[pull.number]),
            before, _merged_by(who, pull) if before else "",
        )
        for pull, issue in work
    ]  # fmt: skip


def _merged_by(who: Merger, pull: Pull) -> str:
    """Return who committed the merge; empty if it is one of the branch's own commits."""
    commit, folder = pull.merged_as, who.ws.folder
    if not commit or commit == pull.head or not worktree.has_commit(folder, commit):
        return ""
    args = ["log", "--no-show-signature", "--max-count=1", "--format=%cn", commit]
    return git.check(args, cwd=folder).text


def _issue(who: Merger, pull: Pull) -> Issue | None:
    if pull.issue is None:
        return None
    try:
        return who.me.ctx.tracker.get(pull.issue)
    except NotFoundError:
        return None
