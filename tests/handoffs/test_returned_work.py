"""What was sent back is told as long as it was not mended, to who has the issue and nobody else."""

import pytest

from ghp_agents.core.ids import AgentName
from ghp_agents.handoffs import evidence
from ghp_agents.handoffs import returned_work as mending
from tests.support.git import commit
from tests.support.repos import Restored, Site
from tests.support.road import Road, sent_back

STEP = "Fix #2 (sent back, round 1): conflict with main in `README.md`."


def returned(site: Site) -> None:
    """A repository whose #1 was finished and sent back, because the trunk has moved."""
    road = Road(site.make_repo())
    road.issue("Parse files")
    road.done("worker-1", 1, {"README.md": "ours\n"})
    road.put({"README.md": "theirs\n"})
    sent_back(road.merge(1))


@pytest.fixture
def road(restored: Restored) -> Road:
    return Road(restored(returned).repo)


def reminders_of(road: Road, agent: str) -> list[str]:
    house = road.house(agent)
    return mending.reminders(house, house.store.snapshot(), AgentName(agent))


def steps(road: Road) -> list[str]:
    house = road.house("worker-1")
    about = evidence.topic(house, house.ws.actor(), "1")
    return mending.steps(house.ws, house.store.snapshot(), about)


@pytest.mark.slow
def test_who_has_the_issue_is_told_and_nobody_else(road: Road) -> None:
    (line,) = reminders_of(road, "worker-1")
    assert "conflict with main in `README.md`" in line
    assert "ghp agent-finish" in line
    assert reminders_of(road, "worker-2") == []


def test_it_is_the_first_step_until_the_branch_has_moved_on(road: Road) -> None:
    (step,) = steps(road)
    assert step.startswith(STEP)
    commit(road.work, {"b.txt": "more\n"})
    assert (steps(road), reminders_of(road, "worker-1")) == ([], [])
