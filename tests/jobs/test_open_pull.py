"""What an open pull request waits for: its agent, a draft's end, an approval, or its merge."""

import pytest

from ghp_agents.jobs.open_pull import PullTrace, trace
from ghp_agents.pulls.merging import record_review
from tests.support.git import commit
from tests.support.repos import Restored
from tests.support.road import Road, with_issue


@pytest.fixture
def road(restored: Restored) -> Road:
    return Road(restored(with_issue).repo)


def waits(road: Road) -> list[PullTrace]:
    """What pull request #2 waits for."""
    lead = road.house("lead")
    return trace(lead, lead.forge.get(2))


def review(road: Road, name: str, verdict: str, text: str = "") -> None:
    reviewer = road.house(name)
    record_review.review(reviewer, reviewer.forge.get(2), verdict, text)


@pytest.mark.slow
def test_finished_work_waits_for_its_merge(road: Road) -> None:
    road.done("worker-1", 1, {"a.txt": "one\n"})
    merge = PullTrace("Its pull request #2 waits for its merge.", "ghp agent-merge 2")
    assert waits(road) == [merge]
    review(road, "worker-2", "approve")
    assert waits(road) == [merge]


def test_a_draft_waits_for_its_agent(road: Road) -> None:
    place = road.start("worker-1").path
    commit(place, {"a.txt": "one\n"}, "Begin")
    road.finish("worker-1", place, draft=True)
    assert waits(road) == [PullTrace("Its pull request #2 is a draft.", "ghp agent-finish")]


@pytest.mark.slow
def test_an_approval_is_waited_for_where_it_is_required(road: Road) -> None:
    road.configure({"review": "required"})
    road.done("worker-1", 1, {"a.txt": "one\n"})
    assert waits(road) == [
        PullTrace("Its pull request #2 waits for an approval.", "ghp agent-review 2 --approve")
    ]
    review(road, "worker-2", "approve")
    assert [entry.change for entry in waits(road)] == ["ghp agent-merge 2"]


@pytest.mark.slow
def test_requested_changes_are_quoted_until_new_commits_come(road: Road) -> None:
    done = road.done("worker-1", 1, {"a.txt": "one\n"})
    assert done.pull.number == 2
    review(road, "worker-2", "request-changes", "Add a test\nwith two lines")
    (trace,) = waits(road)
    assert trace.words.startswith("worker-2 requested changes to #2: «Add a test")
    assert (trace.change, trace.is_sent_back) == ("ghp agent-pull show 2", True)
    review(road, "worker-2", "approve")
    assert [entry.is_sent_back for entry in waits(road)] == [False], "the last review counts"
    review(road, "worker-2", "request-changes")
    commit(road.work, {"b.txt": "two\n"}, "Add the test")
    road.finish("worker-1", road.work)
    assert [entry.is_sent_back for entry in waits(road)] == [False]
