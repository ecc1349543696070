"""A review by message on GitHub: it counts for the merge, and people see it in the conversation."""

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.messages import service as messages
from ghp_agents.messages.service import Draft
from ghp_agents.pulls.merging import review_request
from tests.support.clock import ManualClock
from tests.support.git import commit
from tests.support.github import ADMIN, GitHub
from tests.support.road import Road, merged

pytestmark = pytest.mark.slow


@pytest.fixture
def road(github: GitHub, monkeypatch: pytest.MonkeyPatch) -> Road:
    """A clone, a repository that requires reviews, and an issue."""
    for name, value in github.environment(ADMIN).items():
        monkeypatch.setenv(name, value)
    github.proxy.clock = clock = ManualClock()
    github.issue("Parse files", body="### Goal\n\nRead all files")
    road = Road(github.clone("clone"), clock)
    road.configure({"review": "required"})
    return road


def test_a_verdict_by_message_is_a_comment_on_github_and_lets_it_be_merged(
    road: Road, github: GitHub
) -> None:
    place = road.start("worker-1").path
    commit(place, {"a.txt": "one\n"}, "Parse one file")
    number = road.finish("worker-1", place).pull.number
    with pytest.raises(RefusedError, match="nobody else has approved this commit"):
        road.merge(number)
    one, two = road.house("worker-1"), road.house("worker-2")
    subject = review_request.subject_of(one, road.folder, 1)
    assert (subject.pull, subject.note) == (number, "")
    draft = Draft(
        ("worker-2",), "Review", kind="review", issue=1, pull=number, commit=subject.commit
    )
    name = messages.send(one, draft).message.name
    done = review_request.complete(two, road.folder, name, "approve", "Reads well", ())
    assert done.notes == ()
    (comment,) = github.act(ADMIN, "GET", "issues/1/comments")
    first = f"Approved pull request #{number} at {subject.commit[:12]}.\n\nReads well\n"
    assert comment["body"].startswith(first)
    review_request.complete(two, road.folder, name, "approve", "Reads well", ())
    assert len(github.act(ADMIN, "GET", "issues/1/comments")) == 1
    merged(road.merge(number))
