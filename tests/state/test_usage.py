"""The field `usage` of a presence, by whomever it was written."""

from typing import Any

import pytest

from ghp_agents.state import usage
from ghp_agents.state.presence import typed
from ghp_agents.state.usage import NOTHING, Use

FIELD = {
    "model": "opus",
    "context": 12,
    "spent": [{"issue": 1, "usd": 0.5, "inputTokens": 9}, {"issue": None, "inputTokens": 1}],
}


def test_amounts_are_read_by_issue() -> None:
    by_issue = usage.decode({"usage": FIELD})
    assert by_issue == {1: Use(usd=0.5, input_tokens=9), None: Use(input_tokens=1)}
    assert usage.total(by_issue.values()) == Use(usd=0.5, input_tokens=10)


def test_nothing_reported_is_not_zero() -> None:
    assert usage.total([]) == NOTHING
    assert usage.total([NOTHING, Use(usd=0.0)]) == Use(usd=0.0)


def test_the_growth_between_two_states_is_never_negative() -> None:
    before = Use(usd=1.0, input_tokens=9)
    assert usage.since(Use(usd=1.3, input_tokens=2, output_tokens=4), before) == Use(
        usd=0.3, input_tokens=0, output_tokens=4
    )


@pytest.mark.parametrize(
    ("odd", "left"),
    [
        (None, {}),
        ([], {}),
        ({"model": 1, "context": True, "spent": {}}, {}),
        ({"model": "\x1b[1m", "context": 101}, {"model": "[1m"}),
        ({"spent": [1, {}, {"issue": 0}, {"issue": "1"}, {"issue": 2**80}]},
         {"spent": [{"issue": None}]}),
        ({"spent": [{"issue": 1, "usd": -1, "inputTokens": 1.5, "outputTokens": "9"}]},
         {"spent": [{"issue": 1, "inputTokens": 1}]}),
        ({"spent": [{"issue": n, "usd": 1} for n in range(1, 99)]},
         {"spent": [{"issue": n, "usd": 1} for n in range(1, 6)]}),
    ],
)  # fmt: skip
def test_what_is_odd_is_left_out_and_hides_nothing_else(odd: Any, left: Any) -> None:
    assert usage.valid(odd) == left
    assert typed({"usage": odd}) == ({} if not isinstance(odd, dict) else {"usage": left})
