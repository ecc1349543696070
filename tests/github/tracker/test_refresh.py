"""Which issues are looked up again when a full read is due."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.github.tracker.mapping import MirroredIssue
from ghp_agents.github.tracker.refresh import MOST_OUTSIDERS, WHOLE, in_turn

AT = "2026-01-02T03:04:05Z"


def issue(number: int, author: str, by_writer: bool | None, *labels: str) -> MirroredIssue:
    return MirroredIssue(
        number, number, "T", "", "open", labels, (), author, AT, AT, by_writer=by_writer
    )


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 40), st.booleans()), max_size=60))
def test_a_turn_costs_few_requests_and_everybody_has_one(rows: list[tuple[int, bool]]) -> None:
    issues = [
        issue(number, f"a-{author}", author < 5, *(["agent:w"] if has_label else []))
        for number, (author, has_label) in enumerate(rows)
    ]
    seen: set[int] = set()
    for turn in range(4 * 6):
        chosen = in_turn(issues, turn * WHOLE)
        others = [x for x in chosen if not x.by_writer]
        assert [x for x in issues if x.by_writer] == [x for x in chosen if x.by_writer]
        assert len({x.author for x in others}) <= MOST_OUTSIDERS
        assert sum(1 for x in others if x.labels) <= MOST_OUTSIDERS
        seen |= {x.number for x in chosen}
    assert seen == {*range(len(rows))}


def test_closed_issues_of_outsiders_are_not_looked_up_again() -> None:
    closed = issue(1, "eve", None)._replace(state="closed")
    assert in_turn([closed], 0.0) == []
