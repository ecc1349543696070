"""The seconds since the machine was started, and what a presence keeps of them."""

from typing import Any

from ghp_agents.hotpath import boot_clock as bootclock


def test_the_seconds_go_on_and_the_start_stays() -> None:
    (boot, first), (again, then) = bootclock.read(), bootclock.read()
    assert boot == again
    assert 0 <= first <= then


def test_a_beat_is_noted_by_both_clocks() -> None:
    local: dict[str, Any] = {"session": "s-1"}
    bootclock.note_beat(local, ("start", 12.34), 1_750_000_000.55)
    assert local == {"session": "s-1", "boot": ["start", 12.3, 1_750_000_000.5]}


def test_of_a_beat_that_nobody_timed_an_earlier_time_is_not_kept() -> None:
    local: dict[str, Any] = {"boot": ["start", 1.0, 2.0]}
    bootclock.note_beat(local, None, 3.0)
    assert local == {}
