"""Who lives: by the observer's own clock, and only as far as there was news."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.presence.liveness import (
    AgentView,
    Liveness,
    Memory,
    Sighting,
    liveness,
    observe,
    silent_for,
)
from ghp_agents.settings.settings import Thresholds
from ghp_agents.state.presence import Presence
from tests.support.said import AGENTS

LIMITS = Thresholds(stale=600, dead=1_800, gone=86_400)
HOUR = 3_600.0
KEY = "3f9a/worker-1"


# ------------------------------------------------------------------------------ the table


@pytest.mark.parametrize(
    ("silent", "process_lives", "status", "verdict"),
    [
        (0, None, "testing", "active"),
        (599, None, "testing", "active"),
        (600, None, "testing", "stale"),
        (1_799, None, "testing", "stale"),
        (1_800, None, "testing", "dead"),
        (86_399, None, "testing", "dead"),
        (86_400, None, "testing", "gone"),
        # A process that ended is dead at once; one that runs may be in a long test run.
        (0, False, "testing", "dead"),
        (86_400, False, "testing", "gone"),
        (0, True, "testing", "active"),
        (600, True, "testing", "stale"),
        (86_399, True, "testing", "stale"),
        # Its number may belong to another process by now: nobody lives for ever by that.
        (86_400, True, "testing", "gone"),
        # Who said that it stops is neither stale nor dead.
        (0, None, "stopped", "stopped"),
        (1_800, None, "stopped", "stopped"),
        (0, False, "stopped", "stopped"),
        (86_400, None, "stopped", "gone"),
    ],
)
def test_what_silence_means(
    silent: float, process_lives: bool | None, status: str, verdict: str
) -> None:
    fields = {"status": status}
    assert liveness(fields, silent, LIMITS, process_lives=process_lives) is Liveness(verdict)


@given(
    st.floats(0, 1e6),
    st.floats(0, 1e6),
    st.sampled_from((None, True, False)),
    st.sampled_from(("idle", "stopped", 7, None)),
)
def test_longer_silence_never_makes_an_agent_livelier(
    one: float, other: float, process_lives: bool | None, status: object
) -> None:
    order = [*(Liveness(word) for word in ("active", "stopped", "stale", "dead", "gone"))]
    short, long = sorted((one, other))
    ranks = [
        order.index(liveness({"status": status}, silent, LIMITS, process_lives=process_lives))
        for silent in (short, long)
    ]
    assert ranks == sorted(ranks)


# -------------------------------------------------------------------------- the observer's memory


def beat(seq: int, epoch: int = 1, timestamp: str = "…") -> dict[str, Presence]:
    return {KEY: {"epoch": epoch, "seq": seq, "timestamp": timestamp}}


def test_a_sighting_is_when_a_position_was_first_seen() -> None:
    memory = observe({}, beat(1), 100)
    memory = observe(memory, beat(1), 200)
    assert memory == {KEY: Sighting(1, 1, 100)}
    assert observe(memory, beat(2), 300) == {KEY: Sighting(1, 2, 300)}
    assert observe(memory, beat(1, epoch=2), 300) == {KEY: Sighting(2, 1, 300)}


def test_an_agent_that_nobody_mentions_is_forgotten() -> None:
    assert observe(observe({}, beat(1), 100), {}, 200) == {}


def test_any_other_position_is_a_sign_of_life_also_a_lower_one() -> None:
    # Its clone was restored from a backup: it begins again below what was remembered.
    memory = observe({}, beat(40), 100)
    assert observe(memory, beat(3), 5_000) == {KEY: Sighting(1, 3, 5_000)}


def test_an_observer_whose_own_clock_was_set_back_starts_to_wait_again() -> None:
    memory = observe({}, beat(1), 10 * HOUR)
    memory = observe(memory, beat(1), 5 * HOUR)
    assert memory == {KEY: Sighting(1, 1, 5 * HOUR)}
    assert silent_for(memory[KEY], 5 * HOUR) == 0


@pytest.mark.slow
@given(st.lists(st.tuples(AGENTS, st.floats(0, 1e9)), max_size=6))
def test_a_sighting_is_never_in_the_observers_future(looks: list[tuple[object, float]]) -> None:
    memory: Memory = {}
    for presences, now in looks:
        assert isinstance(presences, Mapping)
        memory = observe(memory, presences, now)
        assert memory.keys() == presences.keys()
        assert all(sighting.first_seen <= now for sighting in memory.values())


# ------------------------------------------------------------------------------ silence


def test_who_hears_nothing_knows_nothing() -> None:
    sighting = Sighting(1, 1, 1_000)
    assert silent_for(sighting, None) == 0
    assert silent_for(None, 5_000) == 0
    assert silent_for(sighting, 900) == 0
    assert silent_for(sighting, 1_700) == 700


# ------------------------------------------------------------- two machines whose clocks disagree


@dataclass
class Observer:
    """A clone that fetches now and then, by its own clock."""

    memory: Memory = field(default_factory=dict)
    news_at: float | None = None

    def fetch(self, presences: Mapping[str, Presence], now: float) -> None:
        self.news_at = now
        self.memory = observe(self.memory, presences, now)

    def verdict(self, presences: Mapping[str, Presence], now: float) -> Liveness:
        self.memory = observe(self.memory, presences, now)
        silent = silent_for(self.memory[KEY], self.news_at)
        return liveness(presences[KEY], silent, LIMITS)


def clock_text(seconds: float) -> str:
    return f"{int(seconds)} by the agent's own clock"


@given(st.sampled_from((-10 * HOUR, -HOUR, 0.0, HOUR, 10 * HOUR)), st.integers(1, 200))
def test_an_agent_that_beats_is_not_swept_however_wrong_its_clock(skew: float, beats: int) -> None:
    observer = Observer()
    for minute in range(beats):
        now = 60.0 * minute
        presences = beat(minute, timestamp=clock_text(now + skew))
        observer.fetch(presences, now)
        assert observer.verdict(presences, now + 59) is Liveness.ACTIVE


@pytest.mark.parametrize("skew", [-10 * HOUR, -HOUR, 0.0, HOUR, 10 * HOUR])
def test_an_agent_that_died_is_found_dead_however_wrong_its_clock(skew: float) -> None:
    observer, presences = Observer(), beat(7, timestamp=clock_text(skew))
    verdicts: dict[Liveness, int] = {}
    for minute in range(26 * 60):
        observer.fetch(presences, 60.0 * minute)
        verdicts.setdefault(observer.verdict(presences, 60.0 * minute), minute)
    assert verdicts == {
        Liveness.ACTIVE: 0,
        Liveness.STALE: 10,
        Liveness.DEAD: 30,
        Liveness.GONE: 24 * 60,
    }


def test_an_observer_that_was_offline_sweeps_nobody_on_its_return() -> None:
    observer = Observer()
    observer.fetch(beat(1), 0)
    assert observer.verdict(beat(1), 10 * HOUR) is Liveness.ACTIVE  # nothing was heard since
    observer.fetch(beat(500), 10 * HOUR)
    assert observer.verdict(beat(500), 10 * HOUR) is Liveness.ACTIVE


# ------------------------------------------------------------------ one answer for all commands


@pytest.mark.parametrize(
    ("liveness", "has_no_client", "said", "has_ended"),
    [
        (Liveness.ACTIVE, False, ("active", "it is active"), False),
        (Liveness.STALE, False, ("stale", "it is stale"), False),
        (Liveness.DEAD, False, ("dead", "it is dead"), False),
        (Liveness.STOPPED, False, ("stopped", "it has stopped"), True),
        (Liveness.ACTIVE, True, ("client ended", "its client has ended"), True),
    ],
)
def test_a_word_and_the_end_of_a_sentence_say_the_same(
    liveness: Liveness, has_no_client: bool, said: tuple[str, str], has_ended: bool
) -> None:
    view = AgentView("worker-1", {}, liveness, 0.0, True, has_no_client=has_no_client)
    assert (view.state, view.words) == said
    assert view.has_ended == has_ended


@pytest.mark.parametrize(("value", "why"), [("It failed.", "It failed."), (None, ""), (5, "")])
def test_why_a_finish_failed_is_text_or_nothing(value: object, why: str) -> None:
    view = AgentView("worker-1", {"unfinished": value}, Liveness.STOPPED, 0.0, True)
    assert view.unfinished == why
