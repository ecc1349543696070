"""GitHub's merge queue, from a server that answers by a script."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import Actor, AgentName, Timestamp
from ghp_agents.github import merge_queue
from ghp_agents.github.api import errors
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.pulls.pull import EnqueuedError, Pull
from tests.support import hubs
from tests.support.clock import ManualClock
from tests.support.hubs import Script, cut, says

WORKER = Actor("worker-1")
HEAD = "a" * 40
PULL = Pull(
    number=2, state="open", draft=False, issue=1, branch="b", base="main", head=HEAD,
    author="worker-1", title="T", body="", created_at=Timestamp(""), updated_at=Timestamp(""),
    url="https://github.com/acme/widgets/pull/2",
)  # fmt: skip


@pytest.fixture
def script() -> Iterator[Script]:
    """A server on loopback; the test says what it answers."""
    server = Script()
    yield server
    server.close()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def hub(repo: Path, script: Script, clock: ManualClock) -> GitHubRepository:
    return hubs.hub(repo, script, clock)


def looks(state: str, position: object = None) -> Any:
    entry = None if position is None else {"position": position}
    pull = {"id": "PR_2", "state": state, "isInMergeQueue": entry is not None}
    repository = {"pullRequest": {**pull, "mergeQueueEntry": entry}}
    return says(200, {"data": {"repository": repository}})


ENQUEUED = says(200, {"data": {"enqueuePullRequest": {"mergeQueueEntry": {"position": 3}}}})


def enqueue(repo: Path, hub: GitHubRepository, clock: ManualClock) -> int:
    with pytest.raises(EnqueuedError) as caught:
        merge_queue.enqueue(hubs.workspace(repo, clock), hub, PULL, HEAD, WORKER)
    return caught.value.place


def test_it_is_enqueued_at_exactly_the_commit_that_was_checked(
    repo: Path, hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    script.then(looks("OPEN"), ENQUEUED)
    assert enqueue(repo, hub, clock) == 3
    assert script.asked[1].body["variables"] == {"id": "PR_2", "head": HEAD}


def test_one_that_is_there_is_not_enqueued_again(
    repo: Path, hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    script.then(looks("OPEN", 1))
    assert enqueue(repo, hub, clock) == 1


def test_an_answer_that_was_lost_is_looked_for(
    repo: Path, hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    script.then(looks("OPEN"), cut, looks("OPEN", 5))
    assert enqueue(repo, hub, clock) == 5


def test_githubs_refusal_has_its_words_and_the_page(
    repo: Path, hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    wrong = [{"type": "UNPROCESSABLE", "message": "A review is required"}]
    script.then(looks("OPEN"), says(200, {"errors": wrong}))
    with pytest.raises(RefusedError) as caught:
        merge_queue.enqueue(hubs.workspace(repo, clock), hub, PULL, HEAD, WORKER)
    assert str(caught.value) == "GitHub did not put #2 into its merge queue: A review is required."
    assert caught.value.hint == (
        "A review or a check may be missing; see https://github.com/acme/widgets/pull/2."
    )


@pytest.mark.parametrize("position", [-1, 10**9, "1", True, None, [1]])
def test_a_place_that_is_no_place_is_unknown(
    repo: Path, hub: GitHubRepository, script: Script, clock: ManualClock, position: object
) -> None:
    pull = {"isInMergeQueue": True, "mergeQueueEntry": {"position": position}}
    script.then(says(200, {"data": {"repository": {"pullRequest": pull}}}))
    assert enqueue(repo, hub, clock) == 0


@pytest.mark.parametrize(
    "data", [None, [], {"repository": None}, {"repository": {"pullRequest": 3}}]
)
def test_a_server_without_queues_has_no_place(
    hub: GitHubRepository, script: Script, data: object
) -> None:
    script.then(says(200, {"data": data}), says(200, {"errors": [{"type": "undefinedField"}]}))
    assert merge_queue.place_of(hub, 2) is None
    assert merge_queue.place_of(hub, 2) is None


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("MERGED", "GitHub's merge queue merged #2. `ghp agent-merge 2` cleans up."),
        ("CLOSED", "#2 was closed in GitHub's merge queue and is not merged."),
    ],
)
def test_the_end_is_told_once_to_the_agent_that_enqueued_it(
    repo: Path, hub: GitHubRepository, script: Script, clock: ManualClock, state: str, words: str
) -> None:
    ws = hubs.workspace(repo, clock)
    script.then(looks("OPEN", 1))
    enqueue(repo, hub, clock)
    assert merge_queue.observe(ws, hub) == []  # no request within a minute
    clock.wait(61)
    script.then(looks("OPEN", 1))
    assert merge_queue.observe(ws, hub) == []
    clock.wait(61)
    script.then(looks(state))
    assert merge_queue.observe(ws, hub) == [words]
    clock.wait(61)
    assert merge_queue.observe(ws, hub) == []
    assert [text for text, _ in merge_queue.news(ws, AgentName("worker-1"))] == [words]
    assert merge_queue.news(ws, AgentName("worker-2")) == []


def test_a_server_that_is_away_is_asked_again(
    repo: Path, hub: GitHubRepository, script: Script, clock: ManualClock
) -> None:
    ws = hubs.workspace(repo, clock)
    script.then(looks("OPEN", 1))
    enqueue(repo, hub, clock)
    clock.wait(61)
    script.then(says(502), says(502), says(502))
    assert merge_queue.observe(ws, hub) == []
    clock.wait(120)
    script.then(looks("MERGED"))
    assert len(merge_queue.observe(ws, hub)) == 1


def test_only_githubs_words_about_the_queue_mean_the_queue() -> None:
    def error(status: int, message: str) -> errors.HubError:
        return errors.PreconditionError("x", hint="h").of(status, message)

    assert merge_queue.is_required(error(405, "Changes must be made through the merge queue"))
    assert merge_queue.is_required(error(405, "Pull Request is in the merge queue"))
    assert not merge_queue.is_required(error(405, "At least 1 approving review is required"))
    assert not merge_queue.is_required(error(409, "merge queue"))
