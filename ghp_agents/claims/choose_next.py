"""Choose work: the best ready issue for an actor, or the reasons why there is none."""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from ghp_agents.claims import holder_liveness
from ghp_agents.claims.claim import is_mine
from ghp_agents.claims.effects import ClaimContext
from ghp_agents.claims.holder_liveness import HolderView
from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import IssueNumber
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import is_last_resort
from ghp_agents.issues import comment_commands
from ghp_agents.issues.capabilities import fits, needed
from ghp_agents.issues.dependencies import EPIC, has_label, urgency
from ghp_agents.issues.issue import Issue
from ghp_agents.locks.lock import Lock

SHOWN = 5  # names in one message
OUTSIDE = "opened by people without write access"


class Choice(NamedTuple):
    """The best issue, or a description of why there is none."""

    best: Issue | None
    why: str = ""
    passed_over: int = 0  # number of issues left out because outsiders created them

    @property
    def nothing(self) -> RefusedError:
        """The error when there is no issue to claim."""
        hint = "`ghp agent-issues` lists issues; `ghp agent-issue new TITLE` creates one."
        if self.passed_over:
            hint = (
                "A maintainer can assign or label issues opened by people without write access. "
            ) + hint
        return RefusedError(f"No issue is ready: {self.why}.", hint=hint)


def choose(
    me: ClaimContext, held: Mapping[int, Lock], passed_over: Iterable[IssueNumber]
) -> Choice:
    """The best issue for me: already mine, then assigned to me, then by urgency, then by age.

    `held` are the known claims."""
    issues = [issue for issue in me.ctx.tracker.list() if issue.state == "open" and issue.title]
    sights = holder_liveness.holders_of(me.ctx, _of_others(me, issues, held))
    waited_for = {number for issue in issues for number in issue.numbers}
    skipped, escalated, (stopped, given) = set(passed_over), _escalated(me), _commanded(me)
    reasons: dict[str, list[str]] = {}
    ready: list[Issue] = []
    for issue in issues:
        lease = _claim_of(issue, held)
        why = _obstacle(me, issue, waited_for, lease, sights)
        if why is None and not escalated.isdisjoint(issue.numbers) and not _is_mine(me, lease):
            why = "waiting for a person to choose the next agent", []
        if why is None and not stopped.isdisjoint(issue.numbers) and me.name not in issue.assignees:
            why = "stopped by a person", []
        if why is None and not _may_take(me, issue, given, lease):
            why = OUTSIDE, []
        if why is None and issue.number not in skipped:
            ready.append(issue)
        else:
            reason, names = why or ("already taken", [])
            reasons.setdefault(reason, []).extend(names or [""])
    outside = len(reasons.get(OUTSIDE, ()))
    if not ready:
        return Choice(None, _words(reasons), outside)
    return Choice(min(ready, key=lambda issue: _rank(me, issue, held)), passed_over=outside)


def _may_take(me: ClaimContext, issue: Issue, given: Set[int], lease: Lock | None) -> bool:
    """Whether someone with write access offered or assigned it, or it is already mine."""
    return issue.offered or not given.isdisjoint(issue.numbers) or _is_mine(me, lease)


def _escalated(me: ClaimContext) -> set[int | None]:
    """The issues whose agents died so often that a person is asked how to go on."""
    questions = escalation.read_all(me.ctx.store.snapshot(), me.ctx.ws.settings.orchestrators)[0]
    return {x.question.issue for x in questions if x.is_open and is_last_resort(x)}


def _commanded(me: ClaimContext) -> tuple[set[int], set[int]]:
    """By comments of people: the issues stopped and not resumed, and those assigned to agents."""
    files = me.ctx.store.snapshot().files(comment_commands.FOLDER)
    known = comment_commands.read_commands(files)[0] if files else []
    return comment_commands.stopped(known), comment_commands.given(known)


def _is_mine(me: ClaimContext, lease: Lock | None) -> bool:
    return lease is not None and is_mine(lease, me.name, me.epoch, me.clone)


def _rank(me: ClaimContext, issue: Issue, held: Mapping[int, Lock]) -> tuple[int, int]:
    mine = _is_mine(me, _claim_of(issue, held))
    return 0 if mine else 1 if me.name in issue.assignees else 2, urgency(issue)


def _claim_of(issue: Issue, held: Mapping[int, Lock]) -> Lock | None:
    return next((held[number] for number in issue.numbers if number in held), None)


def _of_others(me: ClaimContext, issues: Sequence[Issue], held: Mapping[int, Lock]) -> list[Lock]:
    claims = [lease for issue in issues if (lease := _claim_of(issue, held))]
    return [lease for lease in claims if not is_mine(lease, me.name, me.epoch, me.clone)]


def _obstacle(
    me: ClaimContext,
    issue: Issue,
    waited_for: Set[IssueNumber],
    lease: Lock | None,
    sights: Mapping[str, HolderView],
) -> tuple[str, list[str]] | None:
    """Why I cannot claim it, and the names involved; None if I can."""
    if not waited_for.isdisjoint(issue.blocked_by):
        return "blocked by another issue", []
    if has_label(issue, me.ctx.ws.settings.needs_human_label):
        return "waiting for a person", []
    if has_label(issue, EPIC) and not _is_mine(me, lease):
        return "split into other issues", []
    if lease and not is_mine(lease, me.name, me.epoch, me.clone):
        sight = sights[lease.name]
        if sight.lives or sight.rests:
            return "claimed by", [lease.holder or ""]
    others = [name for name in issue.assignees if lease is None or name != lease.holder]
    if others and me.name not in issue.assignees:
        return "assigned to", others[:1]
    if not me.actor.is_person and not fits(issue, me.ctx.ws.settings.capabilities.get(me.name, ())):
        return "reserved for agents with", [", ".join(sorted(needed(issue)))]
    return None


def _words(reasons: Mapping[str, Sequence[str]]) -> str:
    if not reasons:
        return "none is open"
    return ", ".join(_counted(reason, names) for reason, names in sorted(reasons.items()))


def _counted(reason: str, names: Sequence[str]) -> str:
    known = sorted({name for name in names if name})
    shown = ", ".join(known[:SHOWN]) + (" and others" if len(known) > SHOWN else "")
    return f"{len(names)} {'is' if len(names) == 1 else 'are'} {reason} {shown}".rstrip()
