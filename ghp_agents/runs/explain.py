"""Why the agent of an issue is started again, or not: its causes, how often runs tried them, and
what follows."""

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from ghp_agents.core.errors import GhpError, RefusedError
from ghp_agents.hotpath import heartbeat
from ghp_agents.leases import settled_questions
from ghp_agents.ports import Context
from ghp_agents.runs import causes, folder, host_news, reaction
from ghp_agents.runs.host_news import HostNews
from ghp_agents.runs.reaction import RunCause
from ghp_agents.workspace import Workspace


class CauseTrace(NamedTuple):
    """One cause, and the runs that tried it."""

    key: str
    words: str
    tried: int
    starts: bool = True  # a run, if its agent is supervised


class ReactionTrace(NamedTuple):
    """What stands in the way of an issue that an agent has."""

    agent: str = ""
    causes: Sequence[CauseTrace] = ()
    is_supervised: bool = False  # by an `agent-work` of this clone
    question: str = ""  # the open question of its agent about the issue


def of_issue(ctx: Context, issue: int) -> ReactionTrace:
    """What stands in the way of an issue, if an agent of this clone's runs has it. Raises
    GhpError."""
    lock = ctx.world.claims.get(issue)
    runs = folder.read_all(ctx.ws)
    holder = lock.holder if lock and not lock.is_person else None
    mine = [run for run in runs if (run.agent, run.issue) == (holder, issue)][-1:]
    if not mine or holder is None:
        return ReactionTrace()
    host: dict[int, HostNews] = {}
    with suppress(GhpError):  # the host cannot be reached; the records are known
        host = host_news.read(ctx, mine)
    chosen = reaction.choose(causes.standing(ctx, mine, host), runs).get(issue)
    if chosen is None:
        return ReactionTrace(holder)
    return ReactionTrace(
        holder,
        [
            _trace(cause, reaction.tries(cause.key, runs), starts=cause not in chosen.hopeless)
            for cause in (*chosen.causes, *chosen.hopeless)
        ],
        is_supervised(ctx.ws, holder),
        _question(ctx, holder, issue),
    )


def _trace(cause: RunCause, tried: int, *, starts: bool) -> CauseTrace:
    return CauseTrace(cause.key, f"{cause.words[:1].upper()}{cause.words[1:]}.", tried, starts)


def is_supervised(ws: Workspace, agent: str) -> bool:
    """Whether an `agent-work` of this clone starts the agent's runs."""
    if not (heartbeat.is_name(agent) and folder.top(ws).is_dir()):
        return False
    try:
        with folder.alone(ws, agent):
            return False
    except RefusedError:
        return True


def _question(ctx: Context, agent: str, issue: int) -> str:
    escalations = settled_questions.read(ctx.world)
    own = (x for x in escalations if (x.question.agent, x.question.issue) == (agent, issue))
    return next((question.name for question in own if question.is_open), "")
