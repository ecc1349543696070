"""Which comments GitHub counts and has not listed yet."""

import pytest

from ghp_agents.github.commands.late_comments import (
    Counted,
    from_json,
    missing,
    read_from,
    settled,
    to_json,
)

NOW = 1_750_000_000.0


def test_the_first_look_takes_all_counts_as_met() -> None:
    assert settled(None, {1: 3, 2: 0, 3: 2}, [(1, 70), (1, 72)], NOW) == {
        1: Counted(3, 72), 3: Counted(2),
    }  # fmt: skip


def test_a_comment_is_missing_until_it_is_listed() -> None:
    counts = settled({1: Counted(3, 72)}, {1: 5, 2: 1}, [(1, 72), (1, 80)], NOW)
    assert counts == {1: Counted(3, 72, NOW), 2: Counted(0, 0, NOW)}
    assert missing(counts) == {1, 2}
    counts = settled(counts, {1: 5, 2: 1}, [(1, 80), (1, 79), (2, 81)], NOW + 5)
    assert counts == {1: Counted(5, 80), 2: Counted(1, 81)}
    assert missing(counts) == set()


def test_a_comment_that_is_listed_before_it_is_counted_is_not_expected_again() -> None:
    counts = settled({1: Counted(3, 72)}, {1: 3}, [(1, 80)], NOW)
    assert counts == {1: Counted(4, 80)}
    assert settled(counts, {1: 4}, [], NOW) == {1: Counted(4, 80)}


def test_a_deleted_comment_is_not_expected_and_the_next_one_is() -> None:
    counts = settled({1: Counted(3, 72)}, {1: 2}, [], NOW)
    assert counts == {1: Counted(2, 72)}
    assert missing(settled(counts, {1: 3}, [], NOW)) == {1}


@pytest.mark.parametrize("now", [NOW + 3_600, NOW - 1])
def test_after_an_hour_or_when_the_clock_was_set_back_a_comment_is_not_expected(now: float) -> None:
    counts = settled({1: Counted(3, 72)}, {1: 4}, [], NOW)
    assert missing(settled(counts, {1: 4}, [], NOW + 3_599)) == {1}
    assert settled(counts, {1: 4}, [], now) == {1: Counted(4, 72)}


def test_a_minute_before_the_change_is_read_again() -> None:
    since = "2025-06-15T15:10:00Z"
    assert read_from(since, ["2025-06-15T15:05:30Z", "?"]) == "2025-06-15T15:04:30Z"
    assert read_from(since, ["2025-06-15T15:20:00Z"]) == since


@pytest.mark.parametrize("data", [None, [], {"x": [1, 2, None]}, {"1": [1]}, {"1": "abc"}])
def test_what_was_kept_and_cannot_be_read_is_none(data: object) -> None:
    assert from_json(data) is None


def test_what_was_kept_is_read_again() -> None:
    counts = {1: Counted(3, 72), 2: Counted(0, 0, NOW)}
    assert from_json(to_json(counts)) == counts
