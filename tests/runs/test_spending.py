"""What runs use is added to their agents, and stops new runs."""

import json
from typing import Any

import pytest

from ghp_agents.hotpath import usage
from ghp_agents.runs import spending
from tests.support.ghp import invoke
from tests.support.runs import RUN, Shift, states, without_ids

PAID = 'echo \'{"type":"result","session_id":"s-1","num_turns":3,"total_cost_usd":2.5}\''


def limit(shift: Shift, **budgets: dict[str, float]) -> None:
    path = shift.repo / ".ghp/config.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"agents": {"budgets": budgets}}))


def used(shift: Shift, agent: str = "worker-1") -> Any:
    return (shift.app().ws.presence(agent) or {}).get(usage.FIELD, {}).get("spent")


@pytest.mark.slow
def test_a_run_adds_its_money_turns_and_time_to_its_agent(shift: Shift) -> None:
    supervisor = shift.supervisor(f"{PAID}; exit 1")
    supervisor.step()
    shift.ended()
    shift.clock.wait(90)
    supervisor.step()
    assert used(shift) == [{"issue": 1, "usd": 2.5, "turns": 3, "runSeconds": 90.0}]
    spending.add(shift.app().ws, shift.last(), 90.0)
    assert used(shift)[0]["turns"] == 3, "a run counts once"


def test_money_that_hooks_have_reported_is_not_added(shift: Shift) -> None:
    invoke("agent-heartbeat --as worker-1", shift.repo, clock=shift.clock)
    path = shift.repo / ".git/ghp/agents/worker-1.json"
    record = json.loads(path.read_bytes())
    record["local"]["usage"] = {"messages": {"session": "s-1 77", "usd": 1.0}}
    path.write_text(json.dumps(record))
    run = RUN._replace(cost=2.5, turns=3, session="s-1")
    spending.add(shift.app().ws, run, 1.0)
    assert used(shift) == [{"issue": 1, "turns": 3, "runSeconds": 1.0}]
    spending.add(shift.app().ws, run._replace(id="0123456789ac", session="s-2"), 1.0)
    assert used(shift)[0]["usd"] == 2.5


def test_an_agent_that_is_gone_has_used_nothing(shift: Shift) -> None:
    spending.add(shift.app().ws, RUN, 1.0)
    assert used(shift) is None


@pytest.mark.slow
def test_a_used_up_budget_ends_a_supervisor_that_works_once_and_says_why(shift: Shift) -> None:
    limit(shift, day={"usd": 2})
    supervisor = shift.supervisor(f"{PAID}; exit 1", once=True)
    supervisor.step()
    shift.ended()
    supervisor.step()
    assert supervisor.step()
    assert states(shift.runs()) == [("worker-1", 1, "failed")]
    assert without_ids(shift.lines)[-1] == (
        "worker-1: The budget is used up: $2.50 of $2.00 today by all agents "
        "(agents.budgets.day.usd). No new work starts until 00:00 UTC."
    )


@pytest.mark.slow
def test_after_midnight_the_runs_go_on(shift: Shift) -> None:
    limit(shift, agent={"turns": 3})
    supervisor = shift.supervisor(f"{PAID}; exit 1")
    supervisor.step()
    shift.ended()
    supervisor.step()
    assert invoke("agent-sync", shift.repo, clock=shift.clock).code == 0
    shift.clock.wait(3_600)
    supervisor.step()
    assert len(shift.runs()) == 1
    shift.clock.wait(86_400)
    supervisor.step()
    assert len(shift.runs()) == 2
    assert sum("budget" in line for line in shift.lines) == 1
    shift.ended()


@pytest.mark.parametrize("odd", [None, [], {"run": 7}, {"statusline": {"usd": 1, "session": 9}}])
def test_odd_memory_of_hooks_counts_as_none(odd: object) -> None:
    assert not spending._is_reported({"usage": odd}, "s-1")
