"""Ticks at round times, in any zone."""

from datetime import UTC, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from ghp_agents.reports.time_axis import MOST, between, briefly, ticks
from tests.support.timelines import DAY, HOUR, START

INDIA = timezone(timedelta(hours=5, minutes=30), "IST")


@pytest.mark.parametrize(
    ("hours", "most", "expected"),
    [
        (0.01, 5, ["16:00:00", "16:00:15", "16:00:30"]),
        (1, 4, ["16:00", "16:15", "16:30", "16:45", "17:00"]),
        (24, 6, ["18:00", "16 Jun", "06:00", "12:00"]),
        (72, 4, ["16 Jun", "17 Jun", "18 Jun"]),
        (24 * 60, 4, ["13 Jul", "10 Aug"]),
    ],
)
def test_ticks_are_at_round_times(hours: float, most: int, expected: list[str]) -> None:
    shown = [tick.text for tick in ticks(START, START + hours * HOUR, most, UTC)]
    assert shown == expected


def test_round_means_round_in_the_readers_zone() -> None:
    first = ticks(START, START + 6 * HOUR, 6, INDIA)[0]
    assert (first.at - START, first.text) == (HOUR / 2, "22:00")


def test_a_day_has_one_tick_where_the_clocks_change() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    spring = 1_743_202_800.0  # 2025-03-29T00:00 in Berlin; the next day has 23 hours
    shown = ticks(spring, spring + 3 * DAY - 2 * HOUR, 3, berlin)
    assert [tick.text for tick in shown] == ["29 Mar", "30 Mar", "31 Mar"]


@pytest.mark.parametrize("seconds", [1e-3, 1, HOUR, DAY, 400 * DAY, 40_000 * DAY])
@pytest.mark.parametrize("most", [0, 1, 7, 10**9])
def test_there_are_never_too_many(seconds: float, most: int) -> None:
    assert len(ticks(START, START + seconds, most, UTC)) <= max(1, min(most, MOST)) + 1


def test_both_ends_are_named_with_the_zone() -> None:
    assert between(START, START + HOUR, UTC) == "Sun 15 Jun 2025, 16:00 – 17:00 (UTC)"
    assert between(START, START + 9, UTC) == "Sun 15 Jun 2025, 16:00:00 – 16:00:09 (UTC)"
    assert between(START, START + DAY, INDIA) == (
        "Sun 15 Jun, 21:30 – Mon 16 Jun 2025, 21:30 (IST)"
    )
    assert briefly(START, START + HOUR, INDIA) == "15 Jun 21:30–22:30"
