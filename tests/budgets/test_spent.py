"""What was used today and ever, read from presence records."""

import json
import os
from pathlib import Path

import pytest

from ghp_agents.budgets import spent
from ghp_agents.wiring import App
from tests.support.ghp import invoke
from tests.support.road import Road
from tests.support.usage import use

HOUR = 3_600.0


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No background process."""
    monkeypatch.setenv("GHP_BACKGROUND", "0")


@pytest.fixture
def road(repo: Path) -> Road:
    return Road(repo)


def limit(road: Road, **budgets: dict[str, float]) -> None:
    path = road.folder / ".ghp/config.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"agents": {"budgets": budgets}}))


def works(road: Road, agent: str, usd: float) -> None:
    """An agent uses some money, and that is committed."""
    assert invoke(f"agent-heartbeat --as {agent}", road.folder, clock=road.clock).code == 0
    use(road.folder, agent, usd=usd)
    assert invoke("agent-sync", road.folder, clock=road.clock).code == 0


def over(road: Road) -> dict[str, tuple[str, float]]:
    by_agent = spent.used_up(App(road.folder, os.environ, clock=road.clock))
    return {name: (over_budget.key, over_budget.spent) for name, over_budget in by_agent.items()}


@pytest.mark.slow
def test_a_day_counts_what_was_used_since_midnight_and_the_repository_everything(
    road: Road,
) -> None:
    works(road, "worker-1", 3.0)
    limit(road, day={"usd": 3}, agent={"usd": 3})
    assert over(road) == {
        "": ("agents.budgets.day.usd", 3.0), "worker-1": ("agents.budgets.agent.usd", 3.0),
    }  # fmt: skip
    road.clock.wait(24 * HOUR)
    assert over(road) == {}
    works(road, "worker-1", 1.0)
    works(road, "worker-2", 2.0)
    assert over(road) == {"": ("agents.budgets.day.usd", 3.0)}
    limit(road, repository={"usd": 6}, day={"usd": 4})
    assert over(road) == {"": ("agents.budgets.repository.usd", 6.0)}


def test_the_budget_of_a_run_stops_no_agent(road: Road) -> None:
    works(road, "worker-1", 3.0)
    limit(road, run={"usd": 1}, day={})
    assert over(road) == {}
