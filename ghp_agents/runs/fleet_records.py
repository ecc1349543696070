"""What the records say of the issues of a supervisor's agents: claims, orders, answers, causes."""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from ghp_agents.claims.claim import is_mine
from ghp_agents.core.ids import AgentName
from ghp_agents.github.commands import notices
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import Context
from ghp_agents.presence import stopping
from ghp_agents.presence.stop_order import StopOrder
from ghp_agents.runs import causes, give_up, outcome
from ghp_agents.runs.host_news import HostNews
from ghp_agents.runs.reaction import RunCause
from ghp_agents.runs.record import ASKS, FINISHED, UNCHANGED, RunRecord
from ghp_agents.state.presence import number

CLOSES_WITHIN = 60.0  # seconds between a merge and the news that its issue is closed


class FleetRecords(NamedTuple):
    """What a supervisor knows until a record changes."""

    claims: Mapping[int, str] = {}  # the holder; empty if it is none of its agents
    orders: Mapping[str, StopOrder] = {}  # to stop, by agent
    stopped: Set[tuple[str, int]] = frozenset()  # agents, each with an issue that a comment stopped
    left: Set[int] = frozenset()  # issues that a person does not want agents to try again
    answered: Set[str] = frozenset()  # runs whose question was answered
    causes: Sequence[RunCause] = ()  # what stands in the way of issues


def read(
    ctx: Context,
    agents: Collection[str],
    last: Iterable[RunRecord],
    host: Mapping[int, HostNews] | None = None,
) -> FleetRecords:
    """Read the records; `last` are the last runs of the agents at each issue, and `host` is what
    the host reports of pull requests. Raises GhpError."""
    holders = {
        issue: (lock.holder or "") if _is_ours(ctx, lock, agents) else ""
        for issue, lock in ctx.world.claims.items()
    }
    left, snapshot = give_up.left_to_people(ctx), ctx.store.snapshot()
    mine = [run for run in last if holders.get(run.issue) == run.agent]
    asking = [run for run in mine if run.outcome == ASKS and run.issue not in left]
    return FleetRecords(
        holders,
        stopping.in_force(ctx, snapshot),
        {(x, stop.issue) for x in agents for stop in notices.stops(ctx.world, AgentName(x))},
        left,
        {run.id for run in asking if not outcome.asks(ctx, run.agent, run.issue)},
        causes.standing(ctx, mine, host),
    )


def _is_ours(ctx: Context, lock: Lock, agents: Collection[str]) -> bool:
    agent = lock.holder or ""
    epoch = number(ctx.ws.presence(agent) or {}, "epoch")
    return agent in agents and is_mine(lock, agent, epoch, ctx.locks.clone)


class FreedIssues:
    """Finished issues whose claims have ended. A merge in another clone frees the claim before this
    clone hears that the issue is closed, so nobody should begin with it at once."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}  # by run

    def young(
        self, runs: Iterable[RunRecord], held: Mapping[int, str], now: float
    ) -> frozenset[int]:
        """The finished issues whose claims were not seen to have ended CLOSES_WITHIN ago: a claim
        that is known may end at any moment. `runs` come oldest first; the last one of an issue
        counts. `held` are the holders by issue."""
        last = {run.issue: run for run in runs}.values()
        return frozenset(
            run.issue
            for run in last
            if run.outcome in (FINISHED, UNCHANGED)
            and (run.issue in held or self._is_young(run.id, now))
        )

    def _is_young(self, run: str, now: float) -> bool:
        return now < self._since.setdefault(run, now) + CLOSES_WITHIN
