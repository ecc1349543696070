"""What the commands say when a budget is used up: whole outputs."""

import json
from pathlib import Path

import pytest

from tests.support.ghp import Result, invoke
from tests.support.road import Road
from tests.support.usage import use

SPENT = "The budget is used up: $5.10 of $5.00 today by"


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No background process."""
    monkeypatch.setenv("GHP_BACKGROUND", "0")


@pytest.fixture
def road(repo: Path) -> Road:
    """An issue, an agent that has spent $5.10 today, and one that has spent nothing."""
    road = Road(repo)
    road.issue("Parse files")
    for name in ("worker-1", "worker-2"):
        run(road, f"agent-heartbeat --as {name} --status testing --action Reads")
    use(road.folder, "worker-1", usd=5.1, model="opus")
    return road


def run(road: Road, words: str) -> Result:
    return invoke(words, road.folder, clock=road.clock)


def limit(road: Road, scope: str) -> None:
    path = road.folder / ".ghp/config.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"agents": {"budgets": {scope: {"usd": 5}}}}))


def test_who_has_used_its_budget_up_gets_no_next_issue_but_one_that_it_names(road: Road) -> None:
    limit(road, "agent")
    refused = run(road, "agent-claim --next --as worker-1")
    assert refused == Result(
        3,
        "",
        f"Error: {SPENT} this agent (agents.budgets.agent.usd). No new work starts until 00:00 "
        "UTC.\nHint: A person can raise it in .ghp/config.json. `ghp agent-claim N` still "
        "claims an issue by its number.\n",
    )
    assert run(road, "agent-dispatch --dry-run").out.startswith("Would assign #1 «Parse files» to "
                                                                "worker-2: ")  # fmt: skip
    assert run(road, "agent-claim 1 --as worker-1").code == 0
    assert run(road, "agent-claim --next --as worker-1").out == "1\n"


def test_an_explanation_names_the_budget_and_who_is_free(road: Road) -> None:
    limit(road, "agent")
    lines = run(road, "agent-explain 1").out.splitlines()
    assert lines[-3:] == [
        "✓ worker-2 can claim it, next.",
        f"✗ worker-1 cannot claim it. {SPENT} this agent (agents.budgets.agent.usd). You can "
        "still claim the issue by its number.",
        "  → ghp agent-claim 1 --as worker-1",
    ]
    assert (
        "✗ 1 issue is kept back by a used-up budget: #1." in run(road, "agent-explain worker-1").out
    )


def test_the_status_says_who_needs_a_higher_budget(road: Road) -> None:
    limit(road, "agent")
    agents = json.loads(run(road, "agent-status --json").out)["agents"]
    needs = {name: [x["kind"] for x in agents[name].get("needs", ())] for name in agents}
    assert needs == {"worker-1": ["budget"], "worker-2": []}


def test_a_budget_of_all_agents_is_one_sentence(road: Road) -> None:
    limit(road, "day")
    done = run(road, "agent-status")
    assert done.err.startswith(
        f"Warning: {SPENT} all agents (agents.budgets.day.usd). No new work starts until 00:00 "
        "UTC.\nHint: `ghp agent-report --cost` shows what was used.\n"
    )
    assert "budget" not in done.out
    assert run(road, "agent-dispatch --dry-run").err == "1 is kept back by a used-up budget.\n"
