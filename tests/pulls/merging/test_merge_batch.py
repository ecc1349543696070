"""One batch: who may be in it, and what stops it."""

import json

import pytest

from ghp_agents.leases.request import LeaseRequest
from ghp_agents.pulls.merging.merge_batch import Passed
from ghp_agents.pulls.pull import PullChange
from tests.support.repos import Restored, Site
from tests.support.road import ANN, Road
from tests.support.taking import take


def three(site: Site) -> None:
    """Three pull requests."""
    road = Road(site.make_repo())
    for number in (1, 2, 3):
        road.issue(f"Issue {number}")
    for number in (1, 2, 3):
        road.done(f"worker-{number}", number, {f"{number}.txt": "new\n"})


@pytest.fixture
def road(restored: Restored) -> Road:
    return Road(restored(three).repo)


def became(road: Road, name: str = "lead") -> list[tuple[str, int | None]]:
    """What the queue did with each issue's pull request."""
    return [(type(x).__name__, x.pull.issue) for x in road.queue(name)]


@pytest.mark.slow
def test_what_changes_files_that_another_holds_is_left_out_alone(road: Road) -> None:
    take(road.house("other"), LeaseRequest(("/2.txt",), None, "", None, False, typed=("2.txt",)))
    passed, *merged = road.queue()
    assert isinstance(passed, Passed)
    assert (passed.pull.issue, "other" in passed.why) == (2, True)
    assert [x.pull.issue for x in merged] == [1, 3]
    assert road.trunk == ["1.txt", "3.txt", "README.md"]


@pytest.mark.slow
def test_what_was_closed_or_drafted_is_not_in_it(road: Road) -> None:
    forge = road.house("@me").forge
    one, two, _ = forge.list()
    forge.change(one.number, PullChange(state="closed"), ANN)
    forge.change(two.number, PullChange(draft=True), ANN)
    assert became(road) == [("Merged", 3)]


@pytest.mark.slow
def test_a_main_worktree_with_changes_in_the_way_keeps_the_batch_waiting(road: Road) -> None:
    (road.folder / "2.txt").write_text("mine\n")
    outcomes = road.queue()
    assert [type(x) for x in outcomes] == [Passed] * 3
    first = outcomes[0]
    assert isinstance(first, Passed)
    assert first.why.startswith("Cannot merge #4, #5 and #6: main is checked out in ")
    (road.folder / "2.txt").unlink()
    assert became(road) == [("Merged", 1), ("Merged", 2), ("Merged", 3)]


def test_checks_without_consent_keep_all_waiting(road: Road) -> None:
    road.put({".ghp/config.json": json.dumps({"agents": {"checks": ["true"]}})})
    outcomes = road.queue()
    assert [type(x) for x in outcomes] == [Passed] * 3
    assert "1.txt" not in road.trunk


@pytest.mark.slow
def test_the_lock_tells_others_what_is_checked(road: Road) -> None:
    road.configure({"checks": ["true"]})
    road.queue()
    reasons = [lock.reason for lock in road.house("@me").locks.history("trunk") if lock.holder]
    assert reasons[0].startswith("merges the queue, in clone ")
    assert reasons[1].startswith("checks #4, #5 and #6, in clone ")
