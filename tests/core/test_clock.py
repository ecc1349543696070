"""Times and lengths of time as people write them."""

import pytest

from ghp_agents.core.clock import age, duration, moment, to_seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("30m", 1_800),
        ("2 h", 7_200),
        ("1.5d", 129_600),
        ("1W", 604_800),
        ("5min", 300),
    ],
)
def test_a_length_of_time(text: str, seconds: float) -> None:
    assert duration(text) == seconds
    assert moment(text, 1_000_000.0) == 1_000_000.0 - seconds
    assert moment(f"{text} ago", 1_000_000.0) == 1_000_000.0 - seconds


@pytest.mark.parametrize(
    "text", ["", "5", "s", "-5m", "5x", "1e3s", "1.2.3h", "٣h", "soon", "5m ago"]
)
def test_what_is_no_length_of_time(text: str) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        duration(text)


def test_a_moment_is_a_time_too() -> None:
    assert moment(" 2025-06-15T15:06:40Z ", 0.0) == 1_750_000_000.0


@pytest.mark.parametrize(
    ("at", "text"),
    [
        ("2025-01-25T10:30:00Z", "0 s ago"),
        ("2025-01-25T10:25:00Z", "5 min ago"),
        ("2025-01-25T11:30:00Z", "0 s ago"),
        ("yesterday", "?"),
    ],
)
def test_the_age_of_a_record_is_told_as_far_as_its_time_can_be_read(at: str, text: str) -> None:
    assert age(at, to_seconds("2025-01-25T10:30:00Z")) == text
