"""What agents used since a time: by agent and by issue, over sessions and clones."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.reports.costs import Costs, read_costs
from ghp_agents.state.usage import NOTHING, Use
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


def read(road: Road, since: float = 0.0) -> Costs:
    return read_costs(App(road.folder, os.environ, clock=road.clock), since)


def beat(road: Road, agent: str, issue: int = 0, **used: Any) -> None:
    """An agent of this clone has an issue, and has used something since it was last asked."""
    words = f"agent-heartbeat --as {agent} --status testing --issue {issue}"
    assert invoke(words, road.folder, clock=road.clock).code == 0
    if used:
        use(road.folder, agent, **used)
    App(road.folder, os.environ, clock=road.clock).store.fold()


def test_agents_issues_and_the_total(road: Road) -> None:
    number = road.issue("Parse files").number
    beat(road, "worker-1", number, usd=1.5, inputTokens=100)
    beat(road, "worker-2", number, inputTokens=10)
    beat(road, "worker-3", number)
    costs = read(road)
    assert [(x.name, x.model, x.use) for x in costs.agents] == [
        ("worker-1", "opus", Use(usd=1.5, input_tokens=100)),
        ("worker-2", "opus", Use(input_tokens=10)),
        ("worker-3", "", NOTHING),
    ]
    (issue,) = costs.issues
    assert (issue.issue, issue.title, issue.agents, issue.silent) == (
        number, "Parse files", ("worker-1", "worker-2"), ("worker-3",),
    )  # fmt: skip
    assert issue.use == costs.total == Use(usd=1.5, input_tokens=110)


def test_only_what_was_used_since_then(road: Road) -> None:
    beat(road, "worker-1", 1, usd=1.0)
    beat(road, "worker-2", 2, usd=7.0)
    road.clock.wait(HOUR)
    then = road.clock.now()
    road.clock.wait(HOUR)
    beat(road, "worker-1", 1, usd=0.25)
    beat(road, "worker-1", 3, usd=0.5)
    costs = read(road, then)
    assert [(x.name, x.use.usd) for x in costs.agents] == [("worker-1", 0.75)]
    assert [(x.issue, x.use.usd) for x in costs.issues] == [(1, 0.25), (3, 0.5)]


def test_amounts_of_issues_that_were_joined_meanwhile_count_once(road: Road) -> None:
    beat(road, "worker-1", 1, usd=1.0)
    road.clock.wait(HOUR)
    then = road.clock.now()
    road.clock.wait(HOUR)
    for issue in range(2, 8):
        beat(road, "worker-1", issue, usd=0.5)
    costs = read(road, then)
    assert costs.total == Use(usd=3.0)
    assert [(x.issue, x.use.usd) for x in costs.issues][-1] == (None, 1.0)


@pytest.mark.slow
def test_the_amounts_of_an_agent_in_two_clones_are_added(
    clones: Callable[[int], list[Path]],
) -> None:
    one, two = map(Road, clones(2))
    for road, usd in ((one, 1.0), (two, 0.5)):
        beat(road, "worker-1", 1, usd=usd)
        assert invoke("agent-sync", road.folder, clock=road.clock).code == 0
    assert read(two).total == Use(usd=1.5)
