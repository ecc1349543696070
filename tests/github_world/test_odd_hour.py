"""An hour of many agents: what they write stays below the limits of GitHub, and all of it arrives.

Without THOROUGH=1, the crowds are smaller, or only a part of the hour passes."""

import pytest

from tests.support.github import GitHub
from tests.support.odd_hour import Crowd, OddHour
from tests.support.thorough import count

NOW = 1_780_000_000.0


def held(odd: GitHub, crowd: Crowd) -> OddHour:
    """The hour of a crowd, and what must hold of any."""
    hour = OddHour(odd, crowd, NOW)
    hour.pass_by()
    assert hour.story.clock.now() <= NOW + crowd.seconds + 60  # nobody waited for long
    assert hour.busiest().minute <= 80
    hour.settle()
    assert (hour.limits_hit(), hour.codes) == (0, {})  # no false refusal, by GitHub or by us
    assert hour.busiest().hour <= 500
    assert hour.story.twice() == []
    assert hour.answers() == {agent: ["Left"] for agent in hour.issues}
    for agent, number in hour.issues.items():
        assert hour.story.labels(number) == [f"agent:{agent}"]
        shown, *rest = hour.story.comments(number)
        assert shown.startswith(f"**{agent}** holds this issue: {hour.status[agent]}.")
        # A person who knows of the question can answer before GitHub shows it.
        assert sum(f"Which way, {agent}?" in text for text in rest) == 1
        assert len(rest) == 2
    return hour


@pytest.mark.slow
def test_a_few_agents_write_little_and_nothing_is_lost(odd: GitHub) -> None:
    hour = held(odd, Crowd(clones=1, agents=4, every=60.0, seconds=600.0))
    assert hour.busiest().all <= 10 * 4  # a claim, its label; a question, heard; two states


@pytest.mark.slow
@pytest.mark.long
def test_twenty_agents_who_report_each_minute_write_far_less_than_they_may(odd: GitHub) -> None:
    seconds = count(3_600, sample=480)
    hour = held(odd, Crowd(clones=1, agents=20, every=60.0, seconds=seconds))
    assert hour.busiest().hour <= count(250, sample=200)


@pytest.mark.slow
@pytest.mark.long
def test_many_agents_of_many_clones_share_one_budget(odd: GitHub) -> None:
    clones, agents = count(10, sample=3), count(5, sample=3)
    hour = held(odd, Crowd(clones, agents, every=300.0, seconds=count(3_600, sample=2_200)))
    assert hour.busiest().hour <= count(450, sample=150)  # the person keeps the rest
