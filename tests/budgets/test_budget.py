"""Which budgets are used up."""

import pytest

from ghp_agents.budgets import budget
from ghp_agents.budgets.budget import UsedUp
from ghp_agents.state.usage import Use

ONE = {"a": Use(usd=3.0, input_tokens=800, output_tokens=300, turns=4, run_seconds=60.0)}
BOTH = {**ONE, "b": Use(usd=1.0)}


@pytest.mark.parametrize(
    ("budgets", "expected"),
    [
        ({}, {}),
        ({"day": {}}, {}),
        ({"day": {"usd": 0}}, {}),
        ({"day": {"usd": 4.5}}, {}),
        ({"run": {"usd": 1}}, {}),
        ({"agent": {"usd": 3}}, {"a": UsedUp("agent", "usd", 3.0, 3)}),
        ({"agent": {"tokens": 1_100}}, {"a": UsedUp("agent", "tokens", 1_100, 1_100)}),
        ({"agent": {"turns": 5, "seconds": 59}}, {"a": UsedUp("agent", "seconds", 60.0, 59)}),
        ({"day": {"usd": 4}}, {"": UsedUp("day", "usd", 4.0, 4)}),
        ({"repository": {"usd": 9}}, {}),
        ({"repository": {"usd": 8}, "day": {"usd": 1}}, {"": UsedUp("repository", "usd", 8.0, 8)}),
    ],
)
def test_a_budget_is_used_up_when_its_amount_is_reached(
    budgets: dict[str, dict[str, float]], expected: dict[str, UsedUp]
) -> None:
    ever = {**BOTH, "c": Use(usd=4.0)}
    assert budget.used_up(budgets, BOTH, ever) == expected


def test_what_no_client_reports_uses_up_nothing() -> None:
    assert budget.used_up({"day": {"usd": 0.01}}, {"a": Use(turns=9)}, {}) == {}


def test_the_budget_of_all_stops_each() -> None:
    mine, all_ = UsedUp("agent", "turns", 4, 4), UsedUp("day", "usd", 4.0, 4)
    assert budget.of({"a": mine, "": all_}, "a") == all_
    assert budget.of({"a": mine}, "a") == mine
    assert budget.of({"a": mine}, "b") is None


@pytest.mark.parametrize(
    ("over", "sentence"),
    [
        (
            UsedUp("day", "usd", 10.204, 10),
            "$10.20 of $10.00 today by all agents (agents.budgets.day.usd). No new work starts "
            "until 00:00 UTC.",
        ),
        (
            UsedUp("repository", "tokens", 2_000_001, 2_000_000),
            "2,000,001 of 2,000,000 tokens by all agents (agents.budgets.repository.tokens). "
            "No new work starts until the limit is raised.",
        ),
        (
            UsedUp("agent", "seconds", 7_200, 3_600),
            "2 h of 60 min today by this agent (agents.budgets.agent.seconds). No new work "
            "starts until 00:00 UTC.",
        ),
    ],
)
def test_the_sentence_names_the_amounts_the_setting_and_the_end(
    over: UsedUp, sentence: str
) -> None:
    assert over.sentence == f"The budget is used up: {sentence}"


def test_a_day_begins_at_midnight_in_utc() -> None:
    assert budget.day_start(1_795_490_000.0) == 1_795_478_400.0
    assert budget.day_start(1_795_478_400.0) == 1_795_478_400.0


@pytest.mark.parametrize(
    ("given", "limit", "expected"), [(0, 0, 0), (5, 0, 5), (0, 5, 5), (3, 5, 3), (9, 5, 5)]
)
def test_of_an_option_and_a_budget_the_lower_holds(given: int, limit: int, expected: int) -> None:
    assert budget.stricter(given, limit) == expected
