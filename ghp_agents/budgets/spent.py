"""What agents have used, as the presence records of all clones have it."""

from collections.abc import Iterable, Mapping

from ghp_agents.budgets import budget
from ghp_agents.budgets.budget import UsedUp
from ghp_agents.core.ids import CloneId
from ghp_agents.ports import Context, Snapshot
from ghp_agents.state import usage
from ghp_agents.state.presence import Presence
from ghp_agents.state.usage import NOTHING, Use

ByIssue = Mapping[int | None, Use]


def used_up(ctx: Context, snapshot: Snapshot | None = None) -> Mapping[str, UsedUp]:
    """The budgets that are used up, see `budget.used_up`; nothing is read if there are none."""
    budgets = ctx.ws.settings.budgets
    if not any(budgets.get(scope) for scope in (budget.AGENT, budget.DAY, budget.REPOSITORY)):
        return {}
    now = snapshot or ctx.store.snapshot()
    ever = {name: of_agent(now, name) for name in now.agents()}
    today: Mapping[str, ByIssue] = {}
    if budgets.get(budget.AGENT) or budgets.get(budget.DAY):
        then = ctx.store.snapshot(budget.day_start(ctx.ws.clock.now()))
        today = {name: grown(use, of_agent(then, name)) for name, use in ever.items()}
    return budget.used_up(budgets, _totals(today), _totals(ever))


def _totals(by_agent: Mapping[str, ByIssue]) -> dict[str, Use]:
    return {name: usage.total(use.values()) for name, use in by_agent.items()}


def of_agent(snapshot: Snapshot, name: str) -> ByIssue:
    """What an agent has used in all clones, by issue: each clone has amounts of its own."""
    by_issue: dict[int | None, Use] = {}
    for presence in _presences(snapshot, name):
        for issue, use in usage.decode(presence).items():
            by_issue[issue] = usage.total([by_issue.get(issue, NOTHING), use])
    return by_issue


def _presences(snapshot: Snapshot, name: str) -> Iterable[Presence]:
    clones: set[CloneId] = {tip.clone for tip in snapshot.tips()} | {snapshot.clone}
    for clone in clones:
        presence = snapshot.agents_of(clone).get(name)
        if presence is not None:
            yield presence


def grown(now: ByIssue, then: ByIssue) -> ByIssue:
    """The growth of each issue's amounts. Those of an older issue may have been joined with None
    since then."""
    joined = [use for issue, use in then.items() if issue is None or issue not in now]
    before = {**then, None: usage.total(joined)}
    return {issue: usage.since(use, before.get(issue, NOTHING)) for issue, use in now.items()}
