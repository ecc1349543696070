"""Approval: an agent that wants shared paths asks a person, and an answer is good for one lease."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from ghp_agents.core import globs
from ghp_agents.core.ids import AgentName
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import Answer, Escalation
from ghp_agents.guard import evaluate
from ghp_agents.hotpath import policy, policy_cache
from ghp_agents.hotpath.quoting import file, named, when
from ghp_agents.leases import service as leases
from ghp_agents.leases.record import at_root
from ghp_agents.leases.request import ApprovalError, Approve, CheckedRequest
from ghp_agents.ports import IssueTracker, LockService, StateStore
from ghp_agents.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.hotpath.policy_cache import Book

YES, NO = "approve", "refuse"
SHOWN = 5  # files that a question names


class ApprovalState(NamedTuple):
    """What somebody who may decide has answered."""

    answer: Answer
    is_yes: bool


def approver(
    ws: Workspace, store: StateStore, leaser: LockService, tracker: IssueTracker
) -> Approve:
    """What has shared paths of a plan approved."""
    return partial(approved, ws, store, leaser, tracker)


def approved(
    ws: Workspace,
    store: StateStore,
    leaser: LockService,
    tracker: IssueTracker,
    plan: CheckedRequest,
) -> CheckedRequest:
    """The plan, approved where it needs that. Raises ApprovalError, after asking."""
    is_any_shared = ws.settings.shared or ws.settings.shared_owners
    if plan.approved_by or plan.wanted.name is not None or not is_any_shared:
        return plan
    files = shared(evaluate.current(ws, store, leaser, tracker), plan)
    if not files:
        return plan
    text = escalation.tidied("question", question(plan))
    asked = _latest(ws, store, plan, text)
    if asked is None:
        asked = escalation.escalate(
            ws, store, tracker, text, options=(YES, NO), context="\n".join(files)
        ).escalation
    verdict = _verdict(ws, asked)
    if verdict is None:
        raise ApprovalError(
            f"{_shown(files)} shared, so a lease needs approval; a person is asked as "
            f"{asked.name}.",
            hint=f"Lease what is not shared, or come back after the answer: ghp agent-answer "
            f"{asked.name} {YES}",
            question=asked,
        )
    if not verdict.is_yes:
        raise ApprovalError(
            f"{named(*verdict.answer.by)} refused {asked.name} at {when(verdict.answer.at)}: "
            f"{_shown(files)} shared.",
            hint="Lease what is not shared, or ask with another --reason.",
            question=asked,
        )
    return plan._replace(approved_by=verdict.answer.by.name, question=asked.id)


def shared(book: "Book", plan: CheckedRequest) -> list[str]:
    """What is shared of all that a lease would cover: files, and what there could be."""
    kinds = [policy.Rule(*fields).kind for fields in book["rules"]]
    numbers = {number for number, kind in enumerate(kinds) if kind == policy.SHARED}
    if not numbers:
        return []
    patterns, fold = plan.wanted.patterns, plan.reach.fold
    named = [place for _, place in globs.named(patterns, fold=fold)]
    places = [*plan.reach.covered, *(x for x in named if globs.covers(patterns, x, fold=fold))]
    found = [place for place in places if numbers.intersection(policy_cache.covering(book, place))]
    return list(dict.fromkeys(place.removesuffix(f"/{globs.PROBE}") for place in found))


def question(plan: CheckedRequest) -> str:
    """What is asked. Not the files: what is shared may change while the question is open."""
    wanted = ", ".join(map(at_root, plan.wanted.patterns))  # leave is for just these
    said = f"May {plan.holder} lease {wanted}? Some of it is shared."
    return f"{said}\n\n{plan.wanted.reason}" if plan.wanted.reason else said


def _shown(files: Sequence[str]) -> str:
    more = len(files) - SHOWN
    names = ", ".join(map(file, files[:SHOWN])) + (f" and {more} more" if more > 0 else "")
    return f"{names} {'is' if len(files) == 1 else 'are'}"


def _latest(ws: Workspace, store: StateStore, plan: CheckedRequest, text: str) -> Escalation | None:
    """The last time this was asked, unless a lease has used up the answer."""
    snapshot = store.snapshot()
    used = {log.request.question for log in leases.read_all(snapshot)[0]}
    same = [
        each
        for each in escalation.read_all(snapshot, ws.settings.orchestrators)[0]
        if (each.question.agent, each.question.text) == (plan.holder.name, text)
    ]
    return same[-1] if same and same[-1].id not in used else None


def _verdict(ws: Workspace, asked: Escalation) -> ApprovalState | None:
    """The last word of somebody who may decide."""
    said = [
        ApprovalState(each, each.text.strip().casefold() == YES)
        for each in asked.answers
        if leases.may_direct(ws, each.by) and each.text.strip().casefold() in (YES, NO)
    ]
    return said[-1] if said else None


def mark_told(ws: Workspace, plan: CheckedRequest, asked: Escalation) -> None:
    """Who got the lease need not be told of the answer as well."""
    escalation.mark_told(
        ws, AgentName(plan.holder.name), [each.id for each in (*asked.answers, *asked.advice)]
    )
