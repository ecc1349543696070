"""Budgets: what runs, agents and the repository may use, and which budgets are used up.

A day is one in UTC, so that all clones mean the same.
"""

from collections.abc import Mapping
from typing import NamedTuple

from ghp_agents.core.clock import ago
from ghp_agents.state import usage
from ghp_agents.state.usage import Use

DAY_S = 86_400.0
RUN, AGENT, DAY, REPOSITORY = "run", "agent", "day", "repository"
WHOSE = {AGENT: "today by this agent", DAY: "today by all agents", REPOSITORY: "by all agents"}
EVERYBODY = ""  # in the place of an agent's name

Limits = Mapping[str, float]  # by measure: usd, tokens, turns, seconds; 0 means no limit
Budgets = Mapping[str, Limits]  # by RUN, AGENT, DAY, REPOSITORY


class UsedUp(NamedTuple):
    """A budget with nothing left."""

    scope: str
    measure: str
    spent: float
    limit: float

    @property
    def key(self) -> str:
        """The setting."""
        return f"agents.budgets.{self.scope}.{self.measure}"

    @property
    def words(self) -> str:
        """Such as `$10.20 of $10.00 today by all agents (agents.budgets.day.usd)`."""
        spent, limit = _amount(self.measure, self.spent), _amount(self.measure, self.limit)
        unit = f" {self.measure}" if self.measure in ("tokens", "turns") else ""
        return f"{spent} of {limit}{unit} {WHOSE[self.scope]} ({self.key})"

    @property
    def sentence(self) -> str:
        """What it means for new work."""
        until = "the limit is raised" if self.scope == REPOSITORY else "00:00 UTC"
        return f"The budget is used up: {self.words}. No new work starts until {until}."


def day_start(now: float) -> float:
    """When the day of `now` began; both are seconds since 1970."""
    return now - now % DAY_S


def used_up(
    budgets: Budgets, today: Mapping[str, Use], ever: Mapping[str, Use]
) -> Mapping[str, UsedUp]:
    """The used-up budget of each agent, by name; that of EVERYBODY stops all agents. `today` and
    `ever` are what each agent has used."""
    everybody = _over(REPOSITORY, budgets, usage.total(ever.values())) or _over(
        DAY, budgets, usage.total(today.values())
    )
    by_agent = {name: _over(AGENT, budgets, use) for name, use in today.items()}
    by_agent[EVERYBODY] = everybody
    return {name: over for name, over in by_agent.items() if over}


def of(by_agent: Mapping[str, UsedUp], agent: str) -> UsedUp | None:
    """The used-up budget that stops an agent."""
    return by_agent.get(EVERYBODY) or by_agent.get(agent)


def stricter(given: float, limit: float) -> float:
    """The lower of two limits; 0 means no limit."""
    return min(given, limit) if given and limit else given or limit


def _over(scope: str, budgets: Budgets, use: Use) -> UsedUp | None:
    spent = {
        "usd": use.usd, "tokens": use.tokens, "turns": use.turns, "seconds": use.run_seconds,
    }  # fmt: skip
    for measure, limit in budgets.get(scope, {}).items():
        number = spent[measure]
        if limit and number is not None and number >= limit:
            return UsedUp(scope, measure, number, limit)
    return None


def _amount(measure: str, number: float) -> str:
    if measure == "usd":
        return f"${number:,.2f}"
    return ago(number) if measure == "seconds" else f"{int(number):,}"
