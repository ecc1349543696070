"""After merges: close the issues, end their claims and leases, delete branches and worktrees.

Each step is skipped if it is already done.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.claims.effects import ClaimContext, show_merged
from ghp_agents.git import worktree, worktree_admin
from ghp_agents.issues.issue import Closing, Issue
from ghp_agents.leases import service as leases
from ghp_agents.locks.lock import Lock, Release
from ghp_agents.locks.names import claim_name
from ghp_agents.locks.swap import LockView, current_view, swap
from ghp_agents.pulls.merging import merged_branches
from ghp_agents.pulls.pull import Pull
from ghp_agents.state import remote_branches as branches
from ghp_agents.state.cause import MERGED, Cause
from ghp_agents.state.legacy_causes import MERGED_BY


class MergedWork(NamedTuple):
    """A merged pull request and its issue, if there is one."""

    pull: Pull
    issue: Issue | None


def clean_up(me: ClaimContext, merged: Sequence[MergedWork], cwd: Path) -> dict[int, list[str]]:
    """Clean up after merges; return notes on what was kept, and why, by pull request. Records,
    locks and branches change together where that is possible."""
    closings = [_closing(work.pull, work.issue) for work in merged if work.issue is not None]
    if closings:
        me.ctx.tracker.close_all(closings, me.actor)
    ended = _end_claims(me, merged)
    show_merged(me, ended)
    _end_leases(me, {before.holder: _pull_of(merged, issue) for issue, _, before in ended})
    notes: dict[int, list[str]] = {work.pull.number: [] for work in merged}
    for pull in {work.pull.base: work.pull for work in merged}.values():
        notes[pull.number] += _forward_trunk(me, pull)
    for number, words in merged_branches.remove(me, [work.pull for work in merged], cwd).items():
        notes[number] += words
    return notes


def _closing(pull: Pull, issue: Issue) -> Closing:
    commit = f" as {pull.merged_as[:12]}" if pull.merged_as else ""
    mark = f"<!-- ghp:merged {pull.number} -->"
    text = f"Merged{commit}: pull request #{pull.number} of {pull.branch}.\n\n{mark}"
    return Closing(issue.number, text, mark)


def _pull_of(merged: Sequence[MergedWork], issue: Issue) -> Pull:
    return next(work.pull for work in merged if work.issue is issue)


def _end_claims(me: ClaimContext, merged: Sequence[MergedWork]) -> list[tuple[Issue, Lock, Lock]]:
    """Release the claims, whoever holds them: the work is merged. Return for each claim that ended
    now its issue, the lock, and the lock before."""
    claims = me.ctx.world.claims
    chosen: list[tuple[MergedWork, Issue, Lock]] = []
    ended: list[tuple[Issue, Lock, Lock]] = []
    for work in merged:
        if work.issue is None:
            continue
        held = claims.get(work.issue.number)
        if held is not None and len(merged) > 1:
            chosen.append((work, work.issue, held))
        else:
            ended += _end_claim(me, work.pull, work.issue)
    releases = [
        Release(held, _reason(work.pull), Cause(MERGED, me.name, f"#{work.pull.number}"))
        for work, _, held in chosen
    ]
    after = me.ctx.locks.release_all(releases) if releases else []
    for (work, issue, held), lock in zip(chosen, after, strict=True):
        ended += [(issue, lock, held)] if lock else _end_claim(me, work.pull, issue)
    return ended


def _end_claim(me: ClaimContext, pull: Pull, issue: Issue) -> list[tuple[Issue, Lock, Lock]]:
    """Release one claim, whatever it is now."""

    def decide(seen: LockView) -> list[tuple[Issue, Lock, Lock]]:
        held = seen.lock
        if held is None or held.holder is None:
            return []
        cause = Cause(MERGED, me.name, f"#{pull.number}")
        after = me.ctx.locks.release(seen.name, expected=held, reason=_reason(pull), cause=cause)
        return [(issue, after, held)]

    return swap(current_view(me.ctx.locks, claim_name(issue.number)), decide)


def _reason(pull: Pull) -> str:
    """Tell the former holder why the claim ended: what was merged, and where it is."""
    commit = f" as {pull.merged_as[:12]}" if pull.merged_as else ""
    return f"{MERGED_BY}{pull.number} into {pull.base}{commit}"


def _end_leases(me: ClaimContext, former: Mapping[str | None, Pull]) -> None:
    """End the leases of former holders without another issue: they were for this one."""
    busy = {lock.holder for lock in me.ctx.world.claims.values()}
    over = {name: pull for name, pull in former.items() if name and name not in busy}
    if not over:
        return
    for hold in leases.listing(me.ctx).held:
        if hold.holder in over and not hold.is_person:
            reason = f"{MERGED_BY}{over[hold.holder].number}"
            leases.give_back(me.ctx, me.actor, hold, reason)


def _forward_trunk(me: ClaimContext, pull: Pull) -> list[str]:
    """Fast-forward this clone's default branch to the remote's, if nothing is in the way."""
    if branches.where(me.ctx.ws) is None:
        return []
    folder = me.ctx.ws.folder
    local_tip = worktree_admin.tip(folder, f"refs/heads/{pull.base}")
    remote_tip = branches.known_tip(me.ctx.ws, pull.base)
    if (
        not local_tip
        or not remote_tip
        or local_tip == remote_tip
        or not worktree.contains(folder, remote_tip, local_tip)
    ):
        return []
    place = worktree_admin.of_branch(folder, pull.base)
    changed = place and place.path.is_dir() and worktree.differences(place.path)
    if place and any(difference.code != "??" for difference in changed or ()):
        return [
            f"Left {place.path} unchanged: {pull.base} has local changes there. Run `git pull` "
            "in it."
        ]
    why = worktree_admin.forward(folder, pull.base, local_tip, remote_tip)
    return [f"{why}."] if why else []
