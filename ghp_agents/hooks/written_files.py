"""Remarks about files that an agent's command changed.

Each is leased where it is free. One that another agent holds, and one that conflicts with another
agent's version in another worktree, gives a remark.
"""

import os

from ghp_agents.hooks.event import EDITED, RAN
from ghp_agents.hotpath import (
    alive,
    check_edit,
    heartbeat,
    ignored_files,
    implicit_leases,
    locate,
    own_name,
    policy,
    policy_cache,
)
from ghp_agents.hotpath.light_dataclass import dataclass
from ghp_agents.hotpath.policy import EditRequest, UnsureError, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ghp_agents.hooks.scene import HookContext
    from ghp_agents.hotpath.implicit_leases import ImplicitLease
    from ghp_agents.hotpath.policy import Rule
    from ghp_agents.hotpath.policy_cache import Book

POLICY_S = 3.0  # seconds in which an outdated policy is compiled again
MERGE_S = 2.0  # seconds after which no further file is merged
LEASED = 200  # files at most that one look leases
OTHERS = ("stopped", policy.FENCED)  # kinds of refusals that the agent hears otherwise


class WorktreeLook:
    """One look at a worktree after a command."""

    def __init__(self, context: "HookContext", book: "Book", presence: "Mapping[str, Any]") -> None:
        self.context = context
        self.book = book
        self.presence = presence
        self.limits = float(book["deadAfter"]), float(book["goneAfter"])
        self.commands = " ".join(
            word
            for use in context.event.tool_uses
            if use.verb in (RAN, EDITED)
            for word in use.what
        )
        self.is_shared = not context.is_home or _is_shared(context, presence, self.limits)
        self._left = own_name.left_worktree(context.place, context.agent, context.here, presence)

    def is_certain(self, path: str) -> bool:
        """Whether it was this agent that changed the file: nobody else works in the worktree, or
        the command names it, or a tool edited it."""
        return not self.is_shared or path.rpartition("/")[2] in self.commands

    def verdict(self, path: str, touch: "tuple[str, str] | None" = None) -> Verdict:
        """Whether the agent might have edited the file; other worktrees are not looked at."""
        context = self.context
        case = EditRequest(
            context.agent, False, context.now, heartbeat.to_text(context.now), self._lives,
            self.presence, touch,
            own_name.worktree_of(
                context.place.git_dir, context.agent, context.folders, context.now, self.limits
            ),
            self._left,
            branch=lambda: locate.branch(context.place.git_dir),
        )  # fmt: skip
        try:
            return policy.decide(self.book, path, case)
        except UnsureError:
            return Verdict(policy.ALLOW, path)

    def _lives(self, rule: "Rule") -> bool:
        if rule.is_person:
            return True
        context = self.context
        return alive.lives(context.folders, rule.holder, context.now, *self.limits) is True

    def lease(self, path: str) -> Verdict:
        """Lease a file that changed; the verdict names who has it already."""
        context, folders = self.context, self.context.folders
        if self._left:  # what it may not edit, it does not lease
            return self.verdict(path)
        key, here = policy_cache.key_of(self.book, path), context.place.git_dir
        rival = None
        if self.is_certain(path):
            epoch = self.presence["epoch"]
            where = folders, context.agent, epoch, key, here, context.now
            rival = implicit_leases.take_lease(*where, *self.limits)
        rivals = [
            lease
            for lease in check_edit.rivals(
                folders, context.agent, key, here, context.now, self.limits
            )
            if lease.is_in(here) and rival in (None, lease.agent)
        ]
        touch = (rivals[0].agent, rivals[0].since) if rivals else None
        return self.verdict(path, touch)

    def others(self, path: str) -> "list[ImplicitLease]":
        """The agents that edit the file in other worktrees."""
        context, here = self.context, self.context.place.git_dir
        key = policy_cache.key_of(self.book, path)
        where = context.folders, context.agent, key, here, context.now, self.limits
        return [rival for rival in check_edit.rivals(*where) if not rival.is_in(here)]


@dataclass
class WriteRemark:
    """A remark to the agent about one file."""

    path: str
    mark: str  # the same for the same conflict
    why: str
    hint: str
    is_certain: bool


def remarks(look: WorktreeLook, changed: "Sequence[str]") -> list[WriteRemark]:
    """The remarks for the agent about the changed files."""
    from time import monotonic

    until = monotonic() + MERGE_S
    remarks: list[WriteRemark] = []
    for path in [path for path in changed if policy_cache.is_plain(path)][:LEASED]:
        verdict = look.lease(path)
        if verdict.is_refused and verdict.kind not in OTHERS:
            if not _is_exempt(look.context, verdict):
                mark = f"{verdict.kind} {verdict.holder} {verdict.since}"
                remarks.append(
                    WriteRemark(path, mark, verdict.why, verdict.next, look.is_certain(path))
                )
        elif monotonic() < until:
            others = look.others(path)
            conflict = _conflict(look, path, others) if others else None
            remarks += [conflict] if conflict else []
    return remarks


def _is_exempt(context: "HookContext", verdict: Verdict) -> bool:
    top = context.place.toplevel or ""
    return verdict.kind in policy.OF_LEASES and ignored_files.is_exempt(
        top, verdict.path, context.environ
    )


def _conflict(
    look: WorktreeLook, path: str, others: "Sequence[ImplicitLease]"
) -> WriteRemark | None:
    """What git could not merge with another agent's version of the file."""
    from ghp_agents.hotpath import conflict_report, file_conflicts, worktree_file

    context = look.context
    try:
        mine = worktree_file.read_file(context.place.toplevel or "", path)
        conflict = file_conflicts.first_conflict(
            context.place, path, mine, others, folders=context.folders, environ=context.environ
        )
    except worktree_file.UndecidedError:
        return None
    if conflict is None:
        return None
    mark = f"{conflict.kind} {conflict.agent} {conflict.since} {conflict.theirs}"
    why, hint = conflict_report.why(conflict), conflict_report.hint_after(conflict)
    return WriteRemark(path, mark, why, hint, look.is_certain(path))


def policy_of(context: "HookContext") -> "Book | None":
    """The policy; an outdated one is compiled again, if that takes little time."""
    from ghp_agents.hotpath.policy_stamp import Sources

    sources = Sources(context.place, context.folders, context.environ)
    cached = policy_cache.load(sources)
    if cached is not None:
        return cached
    from ghp_agents.guard import evaluate
    from ghp_agents.hooks import deadline

    try:
        with deadline.budget(POLICY_S):
            return evaluate.current(context.app().offline)
    except deadline.OverBudgetError:
        return policy_cache.read_stale(sources.home)


def _is_shared(
    context: "HookContext", presence: "Mapping[str, Any]", limits: "tuple[float, float]"
) -> bool:
    """Whether another living agent works in this worktree."""
    names: set[str] = set()
    for folder in context.folders:
        try:
            names |= {name[:-5] for name in os.listdir(f"{folder}/agents") if name[-5:] == ".json"}
        except OSError:
            continue
    for name in names - {context.agent}:
        newest = alive.newest_presence(context.folders, name)
        if (
            newest
            and newest[0].get("worktree") == presence.get("worktree")
            and alive.lives(context.folders, name, context.now, *limits) is True
        ):
            return True
    return False
