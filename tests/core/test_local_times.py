"""Times at a terminal: of the person's own zone, short, and never inside what is quoted."""

from datetime import timedelta, timezone

import pytest

from ghp_agents.core.clock import to_seconds
from ghp_agents.core.local_times import local, local_with_age, localised

NOW = to_seconds("2026-06-15T13:30:00Z")
ZONE = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        ("2026-06-15T13:24:00Z", "15:24"),
        ("2026-06-14T22:00:00Z", "00:00"),
        ("2026-06-14T21:59:00Z", "14 Jun, 23:59"),
        ("2025-12-31T23:30:00Z", "1 Jan, 01:30"),
        ("2025-12-31T21:30:00Z", "31 Dec 2025, 23:30"),
        ("2026-06-15T14:00:00Z", "16:00"),
    ],
)
def test_a_time_is_as_short_as_its_day_allows(at: str, shown: str) -> None:
    assert local(to_seconds(at), NOW, ZONE) == shown


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        ("2026-06-15T13:24:00Z", "15:24, 6 min ago"),
        ("2026-06-14T20:30:00Z", "14 Jun, 22:30, 17 h ago"),
        ("2026-06-10T20:30:00Z", "10 Jun, 22:30"),
        ("2026-06-15T14:00:00Z", "16:00"),
    ],
)
def test_the_age_is_told_of_the_last_24_hours(at: str, shown: str) -> None:
    assert local_with_age(to_seconds(at), NOW, ZONE) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("held since 2026-06-15T13:24:00Z (L-1234).", "held since 15:24, 6 min ago (L-1234)."),
        ("As of 2026-06-15T13:24:00Z (6 min ago).", "As of 15:24 (6 min ago)."),
        ("since 13:24 UTC.", "since 15:24."),
        ("since 13:31 UTC.", "since 14 Jun, 15:31."),
        ("`ghp agent-log --at 2026-06-15T13:24:00Z`", "`ghp agent-log --at 2026-06-15T13:24:00Z`"),
        ("«at 2026-06-15T13:24:00Z» is said", "«at 2026-06-15T13:24:00Z» is said"),
        ("on 2026-13-99T13:24:00Z or 99:99 UTC", "on 2026-13-99T13:24:00Z or 99:99 UTC"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("", ""),
    ],
)
def test_times_in_a_text_are_local_but_not_in_what_is_quoted(text: str, shown: str) -> None:
    assert localised(text, NOW, ZONE).replace("1 Jan 1, 02:00", "0001-01-01T00:00:00Z") == shown
