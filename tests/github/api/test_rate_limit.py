"""Budget and breaker: what closes it, for how long, and what opens it again."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.github.api import rate_limit as gauge
from ghp_agents.github.api.rate_limit import Backoff, Budget, RateLimits
from ghp_agents.github.api.responses import Limit

NOW = 1_000.0
TOLD = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "40", "x-ratelimit-reset": "4600"}


def test_an_answer_tells_the_budget_of_its_resource() -> None:
    known = gauge.heard(RateLimits(), TOLD, NOW)
    known = gauge.heard(known, {**TOLD, "x-ratelimit-resource": "search"}, NOW + 1)
    assert known == RateLimits(
        {"core": Budget(5000, 40, 4600.0), "search": Budget(5000, 40, 4600.0)}, answered=NOW + 1
    )


def test_of_answers_that_overtake_each_other_the_least_counts() -> None:
    known = gauge.heard(RateLimits(), TOLD, NOW)
    known = gauge.heard(known, {**TOLD, "x-ratelimit-remaining": "41"}, NOW)
    assert known.budgets["core"].remaining == 40


def test_a_new_hour_is_full_again_and_an_answer_of_the_old_one_changes_nothing() -> None:
    new = {**TOLD, "x-ratelimit-remaining": "4999", "x-ratelimit-reset": "8200"}
    known = gauge.heard(gauge.heard(RateLimits(), TOLD, NOW), new, NOW)
    assert known.budgets["core"] == Budget(5000, 4999, 8200.0)
    assert gauge.heard(known, TOLD, NOW).budgets["core"] == Budget(5000, 4999, 8200.0)


def test_a_reset_is_told_in_our_own_time() -> None:
    assert gauge.heard(RateLimits(), TOLD, NOW, skew=30.0).budgets["core"].resets == 4630.0


def test_nobody_asks_of_a_budget_that_is_used_up_until_it_is_full_again() -> None:
    known = gauge.heard(RateLimits(), {**TOLD, "x-ratelimit-remaining": "0"}, NOW)
    assert gauge.closed(known, "core", NOW) == Backoff("primary", 4600.0)
    assert gauge.closed(known, "graphql", NOW) is None
    assert gauge.closed(known, "core", 4600.0) is None


def test_a_primary_limit_closes_its_own_budget_alone() -> None:
    headers = {**TOLD, "x-ratelimit-resource": "graphql"}
    known = gauge.rested(RateLimits(), Limit("primary", 600.0), headers, NOW)
    assert gauge.closed(known, "graphql", NOW) == Backoff("primary", 1600.0)
    assert gauge.closed(known, "core", NOW) is None


def test_a_secondary_limit_closes_everything_for_as_long_as_github_asks() -> None:
    known = gauge.rested(RateLimits(), Limit("secondary", 30.0), {}, NOW)
    assert gauge.closed(known, "core", NOW) == Backoff("secondary", 1030.0)
    assert gauge.closed(known, "graphql", 1029.9) == Backoff("secondary", 1030.0)
    assert gauge.closed(known, "core", 1030.0) is None


def test_where_github_names_no_time_the_rest_is_a_minute_and_grows() -> None:
    known, rests = RateLimits(), []
    for _ in range(6):
        known = gauge.rested(known, Limit("secondary", None), {}, NOW)
        assert known.pause
        rests.append(known.pause.until - NOW)
        known = known._replace(pause=None)
    assert rests == [60.0, 120.0, 240.0, 480.0, 900.0, 900.0]


def test_who_cannot_reach_github_keeps_the_others_from_trying_for_a_moment_that_grows() -> None:
    known, rests = RateLimits(), []
    for _ in range(6):
        known = gauge.lost(known, NOW)
        assert known.pause
        assert known.pause.kind == "outage"
        rests.append(known.pause.until - NOW)
        known = known._replace(pause=None)
    assert rests == [5.0, 10.0, 20.0, 40.0, 60.0, 60.0]


@pytest.mark.parametrize("kind", ["outage", "token"])
def test_an_answer_ends_a_pause_that_we_made_ourselves(kind: str) -> None:
    known = RateLimits(pause=Backoff(kind, NOW + 50), strikes=3)
    assert gauge.heard(known, {}, NOW) == RateLimits(answered=NOW)


def test_an_answer_that_was_on_its_way_does_not_end_a_rest_that_github_asked_for() -> None:
    known = gauge.rested(RateLimits(), Limit("secondary", 30.0), {}, NOW)
    assert gauge.closed(gauge.heard(known, TOLD, NOW + 1), "core", NOW + 1)
    assert gauge.heard(known, {}, NOW + 30) == RateLimits(answered=NOW + 30)


def test_of_two_rests_the_longer_counts() -> None:
    known = gauge.rested(RateLimits(), Limit("secondary", 90.0), {}, NOW)
    known = gauge.rested(known, Limit("secondary", 10.0), {}, NOW + 1)
    assert known.pause == Backoff("secondary", NOW + 90.0)


def test_a_refused_token_is_left_alone_for_a_minute() -> None:
    assert gauge.unwelcome(RateLimits(), NOW).pause == Backoff("token", NOW + 60.0)


@pytest.mark.parametrize(
    "known",
    [
        RateLimits(),
        RateLimits({"core": Budget(5000, 0, 4600.5)}, Backoff("secondary", 3.5), 2, 9.0),
    ],
)
def test_what_is_stored_is_read_again(known: RateLimits) -> None:
    assert gauge.from_json(json.loads(json.dumps(gauge.to_json(known)))) == known


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["budgets", "pause", "strikes", "answered", "core"]), inner
            )
        ),
        max_leaves=12,
    )
)
def test_whatever_lies_in_the_file_it_is_read_as_something(data: Any) -> None:
    assert isinstance(gauge.from_json(data), RateLimits)
