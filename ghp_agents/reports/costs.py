"""What agents used since a time: tokens, money and time, by agent and by issue, as their clients
report them. Nothing is computed from prices."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ghp_agents.core.ids import CloneId
from ghp_agents.ports import Context, Snapshot
from ghp_agents.reports.report import is_since
from ghp_agents.state import usage
from ghp_agents.state.presence import Presence, issue_of
from ghp_agents.state.usage import NOTHING, Use

ByIssue = Mapping[int | None, Use]


class AgentCost(NamedTuple):
    """What one agent used. `client` and `model` are others' text."""

    name: str
    client: str
    model: str
    use: Use


class IssueCost(NamedTuple):
    """What was used for an issue, and the agents that reported nothing while they had it. Issue
    None: work without an issue, and on older issues of an agent."""

    issue: int | None
    title: str
    use: Use
    agents: tuple[str, ...]
    silent: tuple[str, ...]


class Costs(NamedTuple):
    """The costs since a time in seconds."""

    since: float
    until: float
    agents: tuple[AgentCost, ...]
    issues: tuple[IssueCost, ...]
    total: Use


def read_costs(ctx: Context, since: float) -> Costs:
    """Read what agents used since a time (seconds), as far as presence was committed by then."""
    then, now = ctx.store.snapshot(since), ctx.store.snapshot()
    agents: list[AgentCost] = []
    uses: dict[int | None, dict[str, Use]] = {}
    silent: dict[int | None, list[str]] = {}
    for name, presence in sorted(now.agents().items()):
        found = _grown(_spent(now, name), _spent(then, name))
        use = usage.total(found.values())
        if not any(use) and not is_since(str(presence.get("timestamp")), since):
            continue
        model = usage.valid(presence.get(usage.FIELD)).get("model", "")
        agents.append(AgentCost(name, str(presence.get("kind") or ""), model, use))
        for issue in found:
            if any(found[issue]):
                uses.setdefault(issue, {})[name] = found[issue]
        if use == NOTHING and issue_of(presence):
            silent.setdefault(issue_of(presence), []).append(name)
    titles: dict[int | None, str] = {x.number: x.title for x in ctx.tracker.known(closed=True)}
    issues = [
        IssueCost(
            issue,
            titles.get(issue, ""),
            usage.total(uses[issue].values()),
            tuple(uses[issue]),
            tuple(silent.get(issue, ())),
        )
        for issue in sorted(uses, key=lambda issue: (issue is None, issue or 0))
    ]
    total = usage.total(agent.use for agent in agents)
    return Costs(since, ctx.ws.clock.now(), tuple(agents), tuple(issues), total)


def _spent(snapshot: Snapshot, name: str) -> ByIssue:
    """What an agent used in all clones: each has amounts of its own."""
    found: dict[int | None, Use] = {}
    for presence in _presences(snapshot, name):
        for issue, use in usage.decode(presence).items():
            found[issue] = usage.total([found.get(issue, NOTHING), use])
    return found


def _presences(snapshot: Snapshot, name: str) -> Iterable[Presence]:
    clones: set[CloneId] = {tip.clone for tip in snapshot.tips()} | {snapshot.clone}
    for clone in clones:
        presence = snapshot.agents_of(clone).get(name)
        if presence is not None:
            yield presence


def _grown(now: ByIssue, then: ByIssue) -> ByIssue:
    """The growth of each issue's amounts. Those of an older issue may have been joined with None
    since then."""
    joined = [use for issue, use in then.items() if issue is None or issue not in now]
    before = {**then, None: usage.total(joined)}
    return {issue: usage.since(use, before.get(issue, NOTHING)) for issue, use in now.items()}
