"""What became of an issue, read from branches and records."""

from pathlib import Path

import pytest

from ghp_agents.core.ids import Actor
from ghp_agents.handoffs.service import handoff
from ghp_agents.pulls.issue_work import IssueWork, read_work, without_pulls
from ghp_agents.pulls.pull import NewPull
from tests.support.git import commit
from tests.support.road import Road, merged


@pytest.mark.slow
def test_the_work_on_an_issue_is_its_worktree_all_its_pull_requests_and_its_newest_handoff(
    repo: Path,
) -> None:
    road = Road(repo)
    first, second = road.issue("Parse files"), road.issue("Write docs")
    house = road.house("lead")
    assert read_work(house, first) == IssueWork()
    place = road.start("worker-1", 1).path
    commit(place, {"a.txt": "one\n"})
    for note in ("One", "Two"):
        handoff(road.house("worker-1", place), issue="1", note=note, checkpoint=True)
    road.finish("worker-1", place)
    merged(road.merge(1))
    again = NewPull("agent/again", "main", "ab" * 20, "Parse more", issue=1)
    house.forge.open(again, Actor("worker-2"))
    work = read_work(road.house("lead"), first)
    assert work.checkout is not None
    assert work.handoff is not None
    assert (work.checkout.path, work.handoff.note) == (place, "Two")
    assert [pull.state for pull in work.pulls] == ["merged", "open"]
    assert without_pulls(road.house("lead"), first) == work._replace(pulls=())
    assert read_work(road.house("lead"), second) == IssueWork()
