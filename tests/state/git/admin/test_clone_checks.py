"""Clocks that cannot agree: never said of those that do, however long a message takes."""

from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.ids import CloneId
from ghp_agents.state.git.admin.clone_checks import ClockReading, skews

HERE, THERE, THIRD = CloneId("here"), CloneId("there"), CloneId("third")
NOW = 1_000_000.0


def test_an_entry_of_our_future_shows_a_clock_ahead() -> None:
    readings = [
        ClockReading(HERE, 1, NOW - 10),
        ClockReading(THERE, 1, NOW + 900),
        ClockReading(THERE, 2, NOW + 600),
    ]
    assert skews(readings, HERE, NOW) == {THERE: 900.0}


def test_an_entry_dated_before_the_one_it_knew_shows_a_clock_behind() -> None:
    readings = [ClockReading(HERE, 1, NOW - 100), ClockReading(THERE, 2, NOW - 800)]
    assert skews(readings, HERE, NOW) == {THERE: -700.0}


def test_our_own_entry_dated_before_the_one_it_knew_shows_theirs_ahead() -> None:
    readings = [ClockReading(THERE, 1, NOW - 100), ClockReading(HERE, 2, NOW - 900)]
    assert skews(readings, HERE, NOW) == {THERE: 800.0}


def test_where_it_may_have_known_another_entry_nothing_is_said() -> None:
    readings = [
        ClockReading(HERE, 1, NOW - 100),
        ClockReading(THIRD, 1, NOW - 90),
        ClockReading(THERE, 2, NOW - 800),
    ]
    assert skews(readings, HERE, NOW) == {}
    between_others = [ClockReading(THIRD, 1, NOW - 100), ClockReading(THERE, 2, NOW - 800)]
    assert skews(between_others, HERE, NOW) == {}


def test_a_late_answer_is_no_clock_behind() -> None:
    readings = [ClockReading(HERE, 1, NOW - 9_000), ClockReading(THERE, 2, NOW - 10)]
    assert skews(readings, HERE, NOW) == {}


CLONES = (HERE, THERE, THIRD)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(CLONES),
        st.sets(st.sampled_from(CLONES)),  # whose entries it fetched just before
        st.floats(0, 10_000),  # how long after the last step, anywhere
    ),
    max_size=12,
)
OFF = st.integers(-5_000_000, 5_000_000).map(lambda milliseconds: milliseconds / 1_000)
OFFSETS = st.fixed_dictionaries({HERE: st.just(0.0), THERE: OFF, THIRD: OFF})


@given(STEPS, OFFSETS)
def test_what_is_said_of_a_clock_is_never_more_than_it_is_off(
    steps: list[tuple[CloneId, set[CloneId], float]], offsets: dict[CloneId, float]
) -> None:
    clocks = dict.fromkeys(CLONES, 0)  # the highest Lamport clock that each clone has seen
    moment = 0.0
    readings: list[ClockReading] = []
    for clone, fetched, later in steps:
        moment += later
        clocks[clone] = 1 + max([clocks[clone], *(clocks[other] for other in fetched)])
        readings.append(ClockReading(clone, clocks[clone], moment + offsets[clone]))
    for clone, off in skews(readings, HERE, moment).items():
        true = offsets[clone]
        assert abs(off) <= abs(true) + 1e-6
        assert off * true > 0
