"""The changes that reviewers requested of open pull requests."""

import pytest

from ghp_agents.pulls.merging import record_review
from ghp_agents.pulls.requested_changes import local_pulls, standing, steps, words
from tests.support.git import commit
from tests.support.repos import Restored
from tests.support.road import Road, merged, with_pull


@pytest.fixture
def road(restored: Restored) -> Road:
    """#2, the pull request of worker-1 for #1."""
    return Road(restored(with_pull).repo)


def review(road: Road, name: str, verdict: str, text: str = "") -> None:
    house = road.house(name)
    record_review.review(house, house.forge.get(2), verdict, text)


def requested(road: Road) -> list[str]:
    snapshot = road.house("lead").store.snapshot()
    return [words(entry) for entry in standing(snapshot, local_pulls(snapshot))]


@pytest.mark.slow
def test_the_last_review_of_each_reviewer_counts(road: Road) -> None:
    review(road, "worker-2", "request-changes", "Add a test\nof tabs")
    review(road, "@me", "request-changes")
    first = "worker-2 requested changes to #2: «Add a test»."
    assert requested(road) == [first, "«Test Person» (a person) requested changes to #2."]
    review(road, "@me", "approve")
    assert requested(road) == [first]


@pytest.mark.slow
def test_a_request_is_about_one_commit(road: Road) -> None:
    review(road, "worker-2", "request-changes", "Add a test")
    place = road.start("worker-1").path
    commit(place, {"b.txt": "two\n"})
    road.finish("worker-1", place)
    assert requested(road) == []


@pytest.mark.slow
def test_what_is_merged_needs_no_change(road: Road) -> None:
    review(road, "worker-2", "request-changes", "Add a test")
    merged(road.merge(1, "@me"))
    assert requested(road) == []


def test_the_next_steps_of_the_issue_say_who_requested_what(road: Road) -> None:
    review(road, "worker-2", "request-changes", "Add a test")
    snapshot = road.house("worker-1").store.snapshot()
    assert steps(snapshot, (1,)) == [
        "Read the review of #2 by worker-2, who requested changes: «Add a test». `ghp agent-pull "
        "show 2` shows all of it. After changes, run `ghp agent-finish`."
    ]
    assert steps(snapshot, (3, None)) == []
