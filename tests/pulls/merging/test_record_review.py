"""With `agents.review: required`, a merge needs an approval by somebody else."""

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.pulls.merging import record_review
from ghp_agents.pulls.merging.merge import Merged
from ghp_agents.pulls.merging.merge_batch import Passed
from ghp_agents.pulls.merging.record_review import Reviewed
from tests.support.git import commit, git
from tests.support.repos import Restored, Site
from tests.support.road import Road, merged

NEEDS = "#2 needs an approval by another agent or a person, and "
NONE = f"{NEEDS}nobody else has approved this commit."


def opened(site: Site) -> None:
    """A pull request of worker-1, in a repository that requires a review."""
    road = Road(site.make_repo())
    road.configure({"review": "required"})
    road.issue("Parse files")
    road.done("worker-1", 1, {"a.txt": "one\n"})


@pytest.fixture
def road(restored: Restored) -> Road:
    return Road(restored(opened).repo)


def review(road: Road, name: str, verdict: str = "approve", text: str = "") -> Reviewed:
    house = road.house(name)
    return record_review.review(house, house.forge.get(2), verdict, text)


def refusal(road: Road, name: str = "lead") -> str:
    with pytest.raises(RefusedError) as caught:
        road.merge(1, name)
    return str(caught.value)


@pytest.mark.slow
def test_what_nobody_else_approved_is_not_merged_by_an_agent(road: Road) -> None:
    assert refusal(road) == NONE
    (skipped,) = road.queue()
    assert isinstance(skipped, Passed)
    assert skipped.why == NONE
    assert "`ghp agent-review 2 --approve`" in skipped.hint
    review(road, "worker-2")
    merged(road.merge(1))


@pytest.mark.slow
def test_the_queue_merges_what_is_approved(road: Road) -> None:
    review(road, "@me")
    (outcome,) = road.queue()
    assert isinstance(outcome, Merged)


@pytest.mark.slow
def test_without_the_setting_no_review_is_needed(road: Road) -> None:
    road.configure({})
    merged(road.merge(1))


@pytest.mark.slow
def test_the_work_itself_cannot_drop_the_requirement(road: Road) -> None:
    place = road.start("worker-1").path
    commit(place, {".ghp/config.json": '{"agents": {"review": "optional"}}'})
    road.finish("worker-1", place)
    assert refusal(road) == NONE


@pytest.mark.slow
def test_a_request_for_changes_holds_until_its_reviewer_approves(road: Road) -> None:
    review(road, "worker-2", "request-changes", "Add a test")
    review(road, "worker-3")
    assert refusal(road) == f"{NEEDS}worker-2 requested changes."
    review(road, "worker-2")
    merged(road.merge(1))


@pytest.mark.slow
def test_a_review_is_of_one_commit(road: Road) -> None:
    review(road, "worker-2")
    place = road.start("worker-1").path
    commit(place, {"b.txt": "two\n"})
    road.finish("worker-1", place)
    assert refusal(road) == NONE


@pytest.mark.slow
def test_a_merge_of_main_after_the_review_keeps_the_approval(road: Road) -> None:
    review(road, "worker-2")
    place = road.start("worker-1").path
    road.put({"news.txt": "new\n"})
    road.finish("worker-1", place)  # merges main into the branch
    assert road.house("lead").forge.get(2).head == git(place, "rev-parse", "HEAD")
    merged(road.merge(1))


def test_nobody_reviews_their_own_work(road: Road) -> None:
    with pytest.raises(RefusedError, match="#2 is your own work"):
        review(road, "worker-1")


@pytest.mark.slow
def test_only_an_open_pull_request_is_reviewed(road: Road) -> None:
    merged(road.merge(1, "@me"))
    with pytest.raises(RefusedError, match="#2 is merged"):
        review(road, "worker-2")


@pytest.mark.slow
def test_a_person_who_merges_the_work_of_others_approves_it(road: Road) -> None:
    merged(road.merge(1, "@me"))


def test_a_person_who_merges_by_number_overrules_no_request_for_changes(road: Road) -> None:
    review(road, "worker-2", "request-changes", "Deletes data\nin all tables")
    review(road, "worker-3", "request-changes")
    road.clock.wait(180.0)
    with pytest.raises(RefusedError) as caught:
        road.merge(1, "@me")
    assert str(caught.value) == (
        "Cannot merge #2: worker-2 requested changes, 3 min ago: «Deletes data»; worker-3 "
        "requested changes, 3 min ago."
    )
    assert caught.value.hint == (
        "`ghp agent-pull show 2` shows its reviews. To merge it all the same, approve it "
        "yourself: `ghp agent-review 2 --approve`. Then merge it again."
    )


@pytest.mark.slow
def test_a_persons_own_approval_sets_earlier_requests_aside_for_that_person(road: Road) -> None:
    review(road, "worker-2", "request-changes", "Deletes data")
    assert review(road, "@me").is_new
    assert refusal(road) == f"{NEEDS}worker-2 requested changes."
    review(road, "worker-2", "request-changes", "It still does")
    assert refusal(road, "@me").startswith("Cannot merge #2: worker-2 requested changes, ")
    assert review(road, "@me").is_new, "it answers the later request"
    assert not review(road, "@me").is_new
    merged(road.merge(1, "@me"))


@pytest.mark.slow
def test_a_persons_own_request_for_changes_holds_that_person_too(road: Road) -> None:
    review(road, "@me", "request-changes", "Add a test")
    assert "requested changes, " in refusal(road, "@me")
    review(road, "@me")
    merged(road.merge(1, "@me"))


def test_the_same_review_again_changes_nothing(road: Road) -> None:
    first = review(road, "worker-2", text="Reads well")
    again = review(road, "worker-2", text="Reads well")
    assert (first.is_new, again.is_new, again.record) == (True, False, first.record)
    (comment,) = road.house("@me").tracker.get(1).comments
    assert (comment.author, comment.body) == (
        "worker-2",
        f"Approved pull request #2 at {first.record.head[:12]}.\n\nReads well",
    )


def test_a_comment_that_an_interrupted_run_left_out_is_added_by_the_next(road: Road) -> None:
    house = road.house("worker-2")
    pull = house.forge.get(2)
    first = record_review.review(house, pull._replace(issue=None), "approve")
    assert house.tracker.get(1).comments == ()
    assert review(road, "worker-2") == first._replace(is_new=False)
    assert len(house.tracker.get(1).comments) == 1


def test_secrets_in_a_review_are_not_kept(road: Road) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    assert token not in review(road, "worker-2", text=f"Do not commit {token}").record.text
