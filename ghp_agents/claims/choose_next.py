"""Choose work: the best ready issue for an actor, or the reasons why there is none."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ghp_agents.budgets import budget, spent
from ghp_agents.budgets.budget import UsedUp
from ghp_agents.claims import decision, holder_liveness
from ghp_agents.claims.claim import is_mine
from ghp_agents.claims.decision import Board, Candidate, ClaimRule
from ghp_agents.claims.effects import ClaimContext
from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import IssueNumber
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import left_to_people, open_last_resorts
from ghp_agents.issues import comment_commands
from ghp_agents.issues.issue import Issue
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import Context
from ghp_agents.presence import capabilities
from ghp_agents.presence.service import AgentView
from ghp_agents.state.cause import GAVE_UP
from ghp_agents.world import World

SHOWN = 5  # names in one message
WORDS = {  # of an issue that cannot be claimed, and how many of its names are told
    ClaimRule.BLOCKED: ("blocked by another issue", 0),
    ClaimRule.PERSON: ("waiting for a person", 0),
    ClaimRule.SPLIT: ("split into other issues", 0),
    ClaimRule.TAKEN: ("claimed by", 1),
    ClaimRule.ASSIGNED: ("assigned to", 1),
    ClaimRule.UNABLE: ("reserved for agents with", SHOWN),
    ClaimRule.ASKED: ("waiting for a person to choose the next agent", 0),
    ClaimRule.LEFT: ("left to a person", 0),
    ClaimRule.GAVE_UP: ("to be done by another agent", 0),
    ClaimRule.STOPPED: ("stopped by a person", 0),
    ClaimRule.OUTSIDE: ("opened by people without write access", 0),
    ClaimRule.SPENT: ("kept back by a used-up budget", 0),
    ClaimRule.REVIEW: ("waiting until pull requests are merged", 0),
}
ALREADY_TAKEN = "already taken"
ITS_OWN = "already its own"


class Choice(NamedTuple):
    """The best issue, or a description of why there is none."""

    best: Issue | None
    why: str = ""
    passed_over: int = 0  # number of issues left out because outsiders created them
    over: UsedUp | None = None  # the budget that keeps issues back

    @property
    def nothing(self) -> RefusedError:
        """The error when there is no issue to claim."""
        if self.over:
            return RefusedError(
                self.over.sentence,
                hint="A person can raise it in .ghp/config.json. `ghp agent-claim N` still "
                "claims an issue by its number.",
            )
        hint = "`ghp agent-issues` lists issues; `ghp agent-issue new TITLE` creates one."
        if self.passed_over:
            hint = (
                "A maintainer can assign or label issues opened by people without write access. "
            ) + hint
        return RefusedError(f"No issue is ready: {self.why}.", hint=hint)


def choose(
    me: ClaimContext, held: Mapping[int, Lock], passed_over: Iterable[IssueNumber]
) -> Choice:
    """The best issue for me, as `decision` orders them. `held` are the known claims."""
    ws = me.ctx.ws
    can = () if me.actor.is_person else capabilities.of(ws, me.name, ws.presence(me.name))
    who = Candidate(me.name, me.epoch, me.clone, can)
    board = read_board(me.ctx, held, who)
    skipped = set(passed_over)
    reasons: dict[str, list[str]] = {}
    ready: list[Issue] = []
    for issue in board.issues:
        obstacle = next(decision.obstacles(board, issue, who), None)
        if obstacle is None and issue.number not in skipped:
            ready.append(issue)
            continue
        words, shown = WORDS[obstacle.rule] if obstacle else (_why_skipped(board, issue, who), 0)
        names = ", ".join(obstacle.names[:shown]) if obstacle else ""
        reasons.setdefault(words, []).append(names)
    outside = len(reasons.get(WORDS[ClaimRule.OUTSIDE][0], ()))
    if not ready:
        kept_back = WORDS[ClaimRule.SPENT][0] in reasons
        over = budget.of(board.spent, who.name) if kept_back else None
        return Choice(None, _words(reasons), outside, over)
    return Choice(decision.best(board, ready, who), passed_over=outside)


def _why_skipped(board: Board, issue: Issue, who: Candidate) -> str:
    lock = board.claim_of(issue)
    is_own = lock is not None and is_mine(lock, who.name, who.epoch, who.clone)
    return ITS_OWN if is_own else ALREADY_TAKEN


def read_board(
    ctx: Context,
    held: Mapping[int, Lock],
    who: Candidate | None = None,
    agents: Sequence[AgentView] | None = None,
) -> Board:
    """The open issues, and what this clone knows of them. The holders of the claims of `who` are
    not looked up; `agents` are all agents, if known. Raises GhpError."""
    issues = [issue for issue in ctx.tracker.list() if issue.state == "open" and issue.title]
    board = Board(issues, held)
    claims = [lock for issue in issues if (lock := board.claim_of(issue))]
    others = [x for x in claims if not (who and is_mine(x, who.name, who.epoch, who.clone))]
    views = holder_liveness.holders_of(ctx, others, agents)
    snapshot = ctx.store.snapshot()
    questions = escalation.questions(ctx.world)
    commands = comment_commands.commands_in(snapshot)
    return Board(
        issues,
        held,
        {name for name, view in views.items() if view.lives or view.rests},
        open_last_resorts(questions),
        comment_commands.stopped(commands),
        comment_commands.given(commands),
        ctx.ws.settings.needs_human_label,
        lambda: [x for x in ctx.tracker.known(closed=True) if x.state == "closed"],
        _given_up(ctx.world),
        spent.used_up(ctx, snapshot),
        _full(ctx),
        left_to_people(questions),
    )


def _full(ctx: Context) -> int:
    """The open pull requests if there are as many as `agents.openPulls` allows, else 0."""
    limit = ctx.ws.settings.open_pulls
    waiting = sum(pull.issue is not None for pull in ctx.forge.list()) if limit else 0
    return waiting if limit and waiting >= limit else 0


def _given_up(world: World) -> dict[int, str]:
    """The agents that failed, by free issue, where no person is asked how to continue."""
    return {
        issue: lock.cause.by
        for issue, lock in world.claim_locks.items()
        if lock.holder is None and lock.cause.kind == GAVE_UP and not lock.cause.ref
    }


def _words(reasons: Mapping[str, Sequence[str]]) -> str:
    if not reasons:
        return "none is open"
    return ", ".join(_counted(reason, names) for reason, names in sorted(reasons.items()))


def _counted(reason: str, names: Sequence[str]) -> str:
    distinct = sorted({name for name in names if name})
    shown = ", ".join(distinct[:SHOWN]) + (" and others" if len(distinct) > SHOWN else "")
    return f"{len(names)} {'is' if len(names) == 1 else 'are'} {reason} {shown}".rstrip()
