"""What proves a pull request, and what a person's word is."""

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import Actor
from ghp_agents.escalations import service as escalation
from ghp_agents.pulls.merging import merge_evidence as merge_proof
from ghp_agents.pulls.merging.merge_trial import TrialLook
from ghp_agents.pulls.pull import Pull
from tests.support.git import commit, git
from tests.support.repos import Restored
from tests.support.road import Road, with_issue, with_pull


@pytest.fixture
def road(restored: Restored, request: pytest.FixtureRequest) -> Road:
    has_pull = "pull" in request.fixturenames
    return Road(restored(with_pull if has_pull else with_issue).repo)


@pytest.fixture
def pull(road: Road) -> Pull:
    return road.house("worker-1").forge.get(2)


def doubt(road: Road, pull: Pull) -> str:
    return merge_proof.doubt(road.merger(), pull, look(road, pull.head))


def look(road: Road, head: str) -> TrialLook:
    return TrialLook(head, road.tip, head)


def test_what_the_holder_finished_is_proven_by_the_record_and_the_claim(
    road: Road, pull: Pull
) -> None:
    assert doubt(road, pull) == ""
    assert doubt(road, pull._replace(sent=None)) == "`agent-finish` did not send it"
    assert doubt(road, pull._replace(issue=None)) == "it belongs to no issue"


def test_only_merges_of_the_trunk_may_come_after_what_was_sent(road: Road, pull: Pull) -> None:
    moved = "its branch moved after `agent-finish` sent it for worker-1"
    road.put({"news.txt": "new\n"})
    git(road.folder, "switch", "--quiet", "--detach", pull.head)
    git(road.folder, "merge", "--quiet", "--no-edit", "main")
    merged = git(road.folder, "rev-parse", "HEAD")
    assert doubt(road, pull._replace(head=merged)) == ""
    commit(road.folder, {"more.txt": "more\n"})
    assert doubt(road, pull._replace(head=git(road.folder, "rev-parse", "HEAD"))) == moved
    git(road.folder, "reset", "--quiet", "--hard", merged)
    commit(road.folder, {"more.txt": "more\n"})
    git(road.folder, "reset", "--quiet", "--soft", merged)
    git(road.folder, "commit", "--quiet", "--amend", "--no-edit")  # a merge with more in it
    assert doubt(road, pull._replace(head=git(road.folder, "rev-parse", "HEAD"))) == moved
    git(road.folder, "switch", "--quiet", "--detach", pull.head)
    git(road.folder, "commit", "--quiet", "--allow-empty", "--message", "Not of the trunk")
    other = git(road.folder, "rev-parse", "HEAD")
    git(road.folder, "reset", "--quiet", "--hard", pull.head)
    git(road.folder, "merge", "--quiet", "--no-ff", "--no-edit", other)
    assert doubt(road, pull._replace(head=git(road.folder, "rev-parse", "HEAD"))) == moved


def test_a_claim_that_another_took_since_proves_nothing_until_that_one_finishes(
    road: Road, pull: Pull
) -> None:
    locks = road.house("@me").locks
    lease = locks.read("issue/1")
    locks.acquire("issue/1", "worker-2", expected=lease, epoch=1)
    assert doubt(road, pull) == "worker-1 sent it, but worker-2 claimed #1 last"
    assert pull.sent
    sent = pull.sent._replace(by=Actor("worker-2"))
    assert doubt(road, pull._replace(sent=sent)) == ""
    person = pull.sent._replace(by=Actor("worker-2", is_person=True))
    assert doubt(road, pull._replace(sent=person)) != ""


def test_a_person_can_refuse_and_change_their_mind(road: Road, pull: Pull) -> None:
    house, who, bare = road.house("@me"), road.merger(), pull._replace(sent=None)
    with pytest.raises(RefusedError, match="A person has not approved it yet"):
        merge_proof.require(who, bare, look(road, pull.head), by_name=True)
    (question,) = escalation.questions(house.world)
    escalation.answer(house, question.name, "refuse")
    with pytest.raises(RefusedError, match="A person has refused it"):
        merge_proof.require(road.merger(), bare, look(road, pull.head), by_name=True)
    escalation.answer(house, question.name, "approve")
    merge_proof.require(road.merger(), bare, look(road, pull.head), by_name=True)
    with pytest.raises(RefusedError, match="did not send it"):
        merge_proof.require(road.merger(), bare, look(road, pull.head), by_name=False)
