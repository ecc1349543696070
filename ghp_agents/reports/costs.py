"""What agents used since a time: tokens, money and time, by agent and by issue, as their clients
report them. Nothing is computed from prices."""

from collections import defaultdict
from typing import Annotated, NamedTuple

from ghp_agents.budgets import spent
from ghp_agents.core.declared import INLINE, NULL, TIME, Name
from ghp_agents.ports import Context
from ghp_agents.reports.report import is_since
from ghp_agents.state import usage
from ghp_agents.state.presence import issue_of
from ghp_agents.state.usage import NOTHING, Use


class AgentCost(NamedTuple):
    """What an agent used."""

    name: Annotated[str, Name("agent")]
    client: Annotated[str, NULL]  # others' text, as the model
    model: Annotated[str, NULL]
    use: Annotated[Use, INLINE]


class IssueCost(NamedTuple):
    """What was used for an issue; null: without an issue, or for older issues of an agent.
    `notReportedBy` has the agents on it whose clients report nothing."""

    issue: int | None
    title: Annotated[str, NULL]
    agents: tuple[str, ...]
    silent: Annotated[tuple[str, ...], Name("notReportedBy")]
    use: Annotated[Use, INLINE]


class Costs(NamedTuple):
    """What agents used since a time: `agent-report --cost`."""

    since: Annotated[float, TIME]
    until: Annotated[float, TIME]
    total: Use
    agents: tuple[AgentCost, ...]
    issues: tuple[IssueCost, ...]


def read_costs(ctx: Context, since: float) -> Costs:
    """Read what agents used since a time (seconds), as far as presence was committed by then."""
    then, now = ctx.store.snapshot(since), ctx.store.snapshot()
    agents: list[AgentCost] = []
    uses: dict[int | None, dict[str, Use]] = defaultdict(dict)
    silent: dict[int | None, list[str]] = defaultdict(list)
    for name, presence in sorted(now.agents().items()):
        growth = spent.grown(spent.of_agent(now, name), spent.of_agent(then, name))
        use = usage.total(growth.values())
        if not any(use) and not is_since(str(presence.get("timestamp")), since):
            continue
        model = usage.valid(presence.get(usage.FIELD)).get("model", "")
        agents.append(AgentCost(name, str(presence.get("kind") or ""), model, use))
        for issue in growth:
            if any(growth[issue]):
                uses[issue][name] = growth[issue]
        if use == NOTHING and issue_of(presence):
            silent[issue_of(presence)].append(name)
    titles: dict[int | None, str] = {x.number: x.title for x in ctx.tracker.known(closed=True)}
    issues = [
        IssueCost(
            issue, titles.get(issue, ""), tuple(uses[issue]), tuple(silent[issue]),
            usage.total(uses[issue].values()),
        )
        for issue in sorted(uses, key=lambda issue: (issue is None, issue or 0))
    ]  # fmt: skip
    total = usage.total(agent.use for agent in agents)
    return Costs(since, ctx.ws.clock.now(), total, tuple(agents), tuple(issues))
