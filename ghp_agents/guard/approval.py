"""Approval of leases on shared paths: a person is asked, and one answer is valid for one lease."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from ghp_agents.core import globs
from ghp_agents.core.ids import AgentName
from ghp_agents.escalations import delivered
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import Answer, Escalation
from ghp_agents.escalations.verdict import NO, YES
from ghp_agents.guard import evaluate
from ghp_agents.hotpath import policy, policy_cache
from ghp_agents.hotpath.quoting import file, named, when
from ghp_agents.leases.record import at_root
from ghp_agents.leases.request import ApprovalError, Approve, CheckedRequest
from ghp_agents.leases.world import read_all
from ghp_agents.ports import Context
from ghp_agents.state.cause import CHOICE, SHARED_FILES
from ghp_agents.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.hotpath.policy_cache import Book

SHOWN = 5  # files named in a message


class ApprovalState(NamedTuple):
    """The answer of a person or orchestrator."""

    answer: Answer
    is_yes: bool


def approver(ctx: Context) -> Approve:
    """The function that gets approval for the shared paths of a request."""
    return partial(approved, ctx)


def approved(ctx: Context, plan: CheckedRequest) -> CheckedRequest:
    """The request, approved if it needs that; else asks and raises ApprovalError."""
    is_any_shared = ctx.ws.settings.shared or ctx.ws.settings.shared_owners
    if plan.approved_by or plan.wanted.name is not None or not is_any_shared:
        return plan
    files = shared(evaluate.current(ctx), plan)
    if not files:
        return plan
    text = escalation.tidied("question", question(plan))
    pending = _latest(ctx, plan, text)
    if pending is None:
        # The answer gives an ordinary lease. Of another one, it only allows the request.
        is_plain = not plan.lock_name and plan.wanted.ttl is None
        pending = escalation.escalate(
            ctx, text, options=(YES, NO), context="\n".join(files),
            kind=SHARED_FILES if is_plain else CHOICE,
            about=plan.wanted.patterns if is_plain else (),
        ).escalation  # fmt: skip
    decision = _decision(pending)
    if decision is None:
        raise ApprovalError(
            f"{_shown(files)} shared, so a lease needs approval. A person was asked: "
            f"{pending.name}.",
            hint="Lease other files meanwhile. A person approves with: ghp agent-answer "
            f"{pending.name} {YES}",
            question=pending,
        )
    if not decision.is_yes:
        raise ApprovalError(
            f"{named(*decision.answer.by)} refused {pending.name} at {when(decision.answer.at)}: "
            f"{_shown(files)} shared.",
            hint="Lease other files, or ask again with another --reason.",
            question=pending,
        )
    return plan._replace(approved_by=decision.answer.by.name, question=pending.id)


def shared(book: "Book", plan: CheckedRequest) -> list[str]:
    """The shared paths that a lease would cover: existing files and possible ones."""
    kinds = [policy.Rule(*fields).kind for fields in book["rules"]]
    numbers = {number for number, kind in enumerate(kinds) if kind == policy.SHARED}
    if not numbers:
        return []
    patterns, fold = plan.wanted.patterns, plan.reach.fold
    named = [place for _, place in globs.named(patterns, fold=fold)]
    places = [*plan.reach.covered, *(x for x in named if globs.covers(patterns, x, fold=fold))]
    shared_paths = [x for x in places if numbers.intersection(policy_cache.covering(book, x))]
    return list(dict.fromkeys(place.removesuffix(f"/{globs.PROBE}") for place in shared_paths))


def question(plan: CheckedRequest) -> str:
    """The question. It names no files, because the set of shared files may change meanwhile."""
    wanted = ", ".join(map(at_root, plan.wanted.patterns))  # the approval covers just these
    text = f"May {plan.holder} lease {wanted}? Some of it is shared."
    return f"{text}\n\n{plan.wanted.reason}" if plan.wanted.reason else text


def _shown(files: Sequence[str]) -> str:
    more = len(files) - SHOWN
    names = ", ".join(map(file, files[:SHOWN])) + (f" and {more} more" if more > 0 else "")
    return f"{names} {'is' if len(files) == 1 else 'are'}"


def _latest(ctx: Context, plan: CheckedRequest, text: str) -> Escalation | None:
    """The last escalation of this question, unless a lease has used its answer."""
    world = ctx.world
    used = {log.request.question for log in read_all(world.snapshot)[0]}
    same = [
        earlier
        for earlier in escalation.questions(world)
        if (earlier.question.agent, earlier.question.text) == (plan.holder.name, text)
    ]
    return same[-1] if same and same[-1].id not in used else None


def _decision(question: Escalation) -> ApprovalState | None:
    """The last decision; its answers are of those who may decide."""
    decisions = [
        ApprovalState(answer, answer.text.strip().casefold() == YES)
        for answer in question.answers
        if answer.text.strip().casefold() in (YES, NO)
    ]
    return decisions[-1] if decisions else None


def mark_told(ws: Workspace, plan: CheckedRequest, question: Escalation) -> None:
    """Mark the answers as delivered: the holder got the lease and needs no notification."""
    answers = [answer.id for answer in (*question.answers, *question.advice)]
    delivered.mark_told(ws, AgentName(plan.holder.name), answers)
