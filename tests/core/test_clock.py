"""Times and lengths of time as people write them."""

import re
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.clock import FORMS, age, duration, local_day, moment, to_seconds, to_text

HERE = timezone(timedelta(hours=2))
NOW = to_seconds("2026-11-22T09:15:30+02:00")
CENTRAL_EUROPE = "CET-1CEST,M3.5.0,M10.5.0/3"
UNITS = "s", "sec", "second", "m", "min", "minutes", "h", "hours", "d", "day", "days", "w", "weeks"
NUMBERS = st.one_of(st.integers(0, 10**9).map(str), st.integers(0, 9999).map("{}.5".format))
TYPED = st.one_of(
    st.sampled_from(["today", "yesterday", "last night", "Last-Night", "0001-01-01"]),
    st.builds("{:02}:{:02}".format, st.integers(0, 23), st.integers(0, 59)),
    st.builds("{}:{:02}".format, st.integers(0, 23), st.integers(0, 59)),
    st.builds("{}{}{}{}".format, NUMBERS, st.sampled_from(["", " "]), st.sampled_from(UNITS),
              st.sampled_from(["", " ago"])),
    st.datetimes().map(str),
    st.dates().map(str),
    st.text(max_size=12),
    st.text("0123456789:-. agohdTZ+", max_size=12),
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("30m", 1_800),
        ("2 h", 7_200),
        ("1.5d", 129_600),
        ("1W", 604_800),
        ("5min", 300),
        ("3 days", 259_200),
        ("1 minute", 60),
    ],
)
def test_a_length_of_time(text: str, seconds: float) -> None:
    assert duration(text) == seconds
    assert moment(text, 1_000_000.0) == 1_000_000.0 - seconds
    assert moment(f"{text} ago", 1_000_000.0) == 1_000_000.0 - seconds


@pytest.mark.parametrize(
    "text", ["", "5", "s", "-5m", "5x", "5ms", "1e3s", "1.2.3h", "٣h", "soon", "5m ago"]
)
def test_what_is_no_length_of_time(text: str) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        duration(text)


def test_a_moment_is_a_time_too() -> None:
    assert moment(" 2025-06-15T15:06:40Z ", 0.0) == 1_750_000_000.0


@pytest.mark.parametrize(
    ("text", "local"),
    [
        ("today", "2026-11-22T00:00:00"),
        ("Yesterday", "2026-11-21T00:00:00"),
        ("last night", "2026-11-21T22:00:00"),
        (" last-night ", "2026-11-21T22:00:00"),
        ("2h ago", "2026-11-22T07:15:30"),
        ("-2h", "2026-11-22T07:15:30"),
        ("30m ago", "2026-11-22T08:45:30"),
        ("3 days ago", "2026-11-19T09:15:30"),
        ("3-days-ago", "2026-11-19T09:15:30"),
        ("09:15", "2026-11-22T09:15:00"),
        ("9:05", "2026-11-22T09:05:00"),
        ("00:00", "2026-11-22T00:00:00"),
        ("14:30", "2026-11-21T14:30:00"),
        ("09:16", "2026-11-21T09:16:00"),
        ("2026-11-20", "2026-11-20T00:00:00"),
        ("20261120", "2026-11-20T00:00:00"),
        ("2026-11-20 10:00", "2026-11-20T10:00:00"),
        ("2026-11-20T10:00Z", "2026-11-20T12:00:00"),
        ("2026-11-20T10:00:00+05:00", "2026-11-20T07:00:00"),
        ("2027-01-01", "2027-01-01T00:00:00"),
        ("1960-01-01", "1970-01-01T02:00:00"),
        ("0001-01-01", "1970-01-01T02:00:00"),
        (f"{'9' * 400}d", "1970-01-01T02:00:00"),
    ],
)
def test_a_time_is_what_a_person_means_where_they_are(text: str, local: str) -> None:
    assert moment(text, NOW, HERE) == to_seconds(f"{local}+02:00")


@pytest.mark.parametrize(
    "text",
    [
        "", "ago", "someday", "yesterdayish", "night", "5", "5ms", "2 h 30 m", ":30", "12:", "1:2",
        "24:01", "14:60", "14:30:00", "14:30Z", "٣:30", "2026-13-01", "2026-11-31",
    ],
)  # fmt: skip
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        moment(text, NOW, HERE)


def test_each_form_that_help_names_is_read() -> None:
    forms = re.sub(r" \(.*?\)|'", "", FORMS.replace(" or ", ", ")).split(", ")
    assert len(forms) == 9
    assert [moment(form, NOW, HERE) <= NOW for form in forms] == [True] * 9


@pytest.mark.slow
@given(TYPED, st.floats(0, 4e9), st.integers(-14 * 4, 14 * 4))
def test_a_time_is_in_the_future_only_if_a_date_says_so(
    text: str, now: float, quarters: int
) -> None:
    try:
        time = moment(text, now, timezone(timedelta(minutes=15 * quarters)))
    except ValueError:
        return
    assert time >= 0
    if time > now:
        datetime.fromisoformat(text.strip())


@pytest.fixture
def in_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Move the machine to another time zone."""

    def move(zone: str) -> None:
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield move
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("now", "text", "expected"),
    [
        # At 2:00 on March 29 the clocks go to 3:00, at 3:00 on October 25 back to 2:00.
        ("2026-03-29T12:00:00+02:00", "today", "2026-03-28T23:00:00Z"),
        ("2026-03-30T12:00:00+02:00", "yesterday", "2026-03-28T23:00:00Z"),
        ("2026-03-29T12:00:00+02:00", "2026-03-28", "2026-03-27T23:00:00Z"),
        ("2026-03-29T03:10:00+02:00", "02:30", "2026-03-28T01:30:00Z"),
        ("2026-03-29T03:40:00+02:00", "02:30", "2026-03-29T01:30:00Z"),
        ("2026-10-25T02:10:00+01:00", "02:30", "2026-10-25T00:30:00Z"),
        ("2026-10-25T02:50:00+01:00", "02:30", "2026-10-25T00:30:00Z"),
        ("2026-10-25T12:00:00+01:00", "1d ago", "2026-10-24T11:00:00Z"),
        ("2026-10-26T01:00:00+01:00", "last night", "2026-10-25T21:00:00Z"),
    ],
)
def test_without_an_offset_the_time_zone_of_the_machine_counts(
    in_zone: Callable[[str], None], now: str, text: str, expected: str
) -> None:
    in_zone(CENTRAL_EUROPE)
    assert to_text(moment(text, to_seconds(now))) == expected


@pytest.mark.parametrize("zone", [CENTRAL_EUROPE, "OLD10NEW-14,M3.5.0,M10.5.0"])
@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25"])
def test_no_change_of_the_clocks_brings_a_time_into_the_future(
    in_zone: Callable[[str], None], zone: str, day: str
) -> None:
    in_zone(zone)
    begin = to_seconds(day) - 86_400
    for now in (begin + 1_020 * step for step in range(300)):  # 17 minutes
        for text in ("today", "yesterday", "last night", "00:00", "01:30", "02:30", "23:59"):
            assert now - 4 * 86_400 < moment(text, now) <= now, (text, to_text(now))


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


def test_a_day_is_that_of_the_machines_zone(in_zone: Callable[[str], None]) -> None:
    in_zone(CENTRAL_EUROPE)
    assert local_day(to_seconds("2025-06-15T21:59:59Z")) == "Sun 15 Jun 2025"
    assert local_day(to_seconds("2025-06-15T22:00:00Z")) == "Mon 16 Jun 2025"
