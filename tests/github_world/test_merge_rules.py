"""What rules and tokens do to a merge: the queue, reviews, signatures, checks that are hidden."""

import json

import pytest

from tests.support.clock import ManualClock
from tests.support.ghp import Result, invoke
from tests.support.github import ADMIN, GitHub
from tests.support.github_queue import VIOLATION, MergeQueue
from tests.support.road import Road

BRANCH = "agent/worker-1/1-parse-files"


@pytest.fixture
def road(github: GitHub, monkeypatch: pytest.MonkeyPatch) -> Road:
    """A clone, and issue #1 with the open pull request #2 of an agent."""
    for name, value in {**github.environment(ADMIN), "GHP_BACKGROUND": "0"}.items():
        monkeypatch.setenv(name, value)
    github.proxy.clock = clock = ManualClock()
    github.issue("Parse files")
    road = Road(github.clone("clone"), clock)
    road.done("worker-1", 1, {"a.txt": "mine\n"})
    return road


@pytest.fixture
def queue(github: GitHub) -> MergeQueue:
    """The merge queue that main requires."""
    github.pulls.queue = MergeQueue(github.pulls)
    return github.pulls.queue


def ghp(road: Road, args: str, **more: str) -> Result:
    return invoke(args, road.folder, more, clock=road.clock)


ENQUEUED = (
    "✓ #2 is in the merge queue of GitHub, place 1: GitHub checks and merges it.\n"
    "A later sync reports the result; `ghp agent-merge 2` then cleans up. Do not push to its "
    "branch: a push removes it from the queue.\n"
)


@pytest.mark.slow
def test_a_pull_request_enters_the_required_queue_once_and_a_sync_hears_the_end(
    road: Road, github: GitHub, queue: MergeQueue
) -> None:
    done = ghp(road, "agent-merge 2 --unchecked", GHP_AGENT="worker-1")
    assert (done.code, done.out, done.err.endswith(ENQUEUED)) == (0, "", True), done.err
    again = ghp(road, "agent-merge 2 --unchecked --json", GHP_AGENT="worker-1")
    (shown,) = json.loads(again.out)
    assert (shown["outcome"], shown["place"], queue.numbers) == ("enqueued", 1, [2])
    road.clock.wait(61)
    assert "merge queue" not in ghp(road, "agent-sync").err  # it still waits
    assert queue.run() == 2
    road.clock.wait(61)
    line = "GitHub's merge queue merged #2. `ghp agent-merge 2` cleans up."
    assert line in ghp(road, "agent-sync").err.splitlines()
    assert line in ghp(road, "agent-status", GHP_AGENT="worker-1").out.splitlines()
    assert line not in ghp(road, "agent-status", GHP_AGENT="worker-1").out.splitlines()
    road.clock.wait(61)
    assert line not in ghp(road, "agent-sync").err
    assert ghp(road, "agent-merge 2").out == "2\n"
    assert github.act(ADMIN, "GET", "issues/1")["state"] == "closed"


@pytest.mark.slow
def test_a_queue_that_throws_a_pull_request_out_is_heard_and_it_can_enter_again(
    road: Road, queue: MergeQueue
) -> None:
    ghp(road, "agent-merge 2 --unchecked", GHP_AGENT="worker-1")
    queue.numbers.clear()
    road.clock.wait(61)
    line = (
        "#2 left GitHub's merge queue and is not merged: a check failed there, or somebody took it "
        "out. Its page has the reason; `ghp agent-merge 2` enqueues it again."
    )
    assert line in ghp(road, "agent-sync").err.splitlines()
    assert ghp(road, "agent-merge 2 --unchecked").err.endswith(ENQUEUED)
    assert queue.numbers == [2]


@pytest.mark.slow
def test_a_branch_in_the_queue_is_not_pushed_to(
    road: Road, github: GitHub, queue: MergeQueue
) -> None:
    ghp(road, "agent-merge 2 --unchecked")
    road.put({"other.txt": "x\n"})
    head = github.pulls.branch(BRANCH)
    assert ghp(road, "agent-merge 2 --unchecked").err.endswith(ENQUEUED)
    assert github.pulls.branch(BRANCH) == head


@pytest.mark.slow
def test_all_of_the_queue_of_agents_enter_githubs(road: Road, queue: MergeQueue) -> None:
    done = ghp(road, "agent-merge --queue --unchecked")
    assert (done.code, done.err.endswith(ENQUEUED), queue.numbers) == (0, True, [2]), done.err


@pytest.mark.parametrize("queued", [False, True], ids=["merge", "queue"])
@pytest.mark.parametrize(
    "rule",
    [
        f"{VIOLATION}At least 1 approving review is required by reviewers with write access.\n\n",
        f"{VIOLATION}Commits must have verified signatures.\n\n",
    ],
    ids=["review", "signature"],
)
@pytest.mark.slow
def test_a_rule_refuses_in_its_own_words_and_says_where_to_look(
    road: Road, github: GitHub, rule: str, queued: bool
) -> None:
    github.pulls.rule = rule
    if queued:
        github.pulls.queue = MergeQueue(github.pulls)
    done = ghp(road, "agent-merge 2 --unchecked")
    words = rule.removeprefix(VIOLATION).strip()
    assert done.code == 3
    assert words in done.err
    assert "/pull/2" in done.err
    assert github.act(ADMIN, "GET", "pulls/2")["state"] == "open"


def workflow_run(head: str, **fields: object) -> dict[str, object]:
    """A run of the workflow CI, as GitHub lists it."""
    of = {"id": 1, "name": "CI", "workflow_id": 7, "event": "pull_request", "head_sha": head}
    return {**of, "status": "completed", "conclusion": "success", **fields}


NO_PERMISSION = "Error: Cannot check #2: this token lacks the permission to read {}, so its checks"


@pytest.mark.slow
def test_what_a_token_cannot_read_is_not_checked_and_actions_count_instead(
    road: Road, github: GitHub
) -> None:
    head = github.act(ADMIN, "GET", "pulls/2")["head"]["sha"]
    queued, failed = {"status": "queued", "conclusion": None}, {"conclusion": "failure"}
    for hides, run, code, words in (
        ("checks actions", {}, 3, NO_PERMISSION.format("Actions")),
        ("checks actions statuses", {}, 3, NO_PERMISSION.format("Commit statuses and Actions")),
        ("statuses", {}, 3, NO_PERMISSION.format("Commit statuses")),
        ("checks", {"head_sha": "0" * 40}, 3, "Error: Cannot check #2. No checks are configured."),
        ("checks", queued, 0, "Skipped #2: The checks of #2 are still running."),
        ("checks", failed, 1, "CI: failure"),
    ):
        github.pulls.hides = {*hides.split()}
        github.pulls.workflow_runs = [workflow_run(head, **run)]
        done = ghp(road, "agent-merge --queue")
        assert (done.code, words in done.err) == (code, True), done.err
    assert not github.act(ADMIN, "GET", "pulls/2")["merged"]


@pytest.mark.slow
def test_green_runs_of_actions_are_enough_for_a_token_without_check_runs(
    road: Road, github: GitHub
) -> None:
    head = github.act(ADMIN, "GET", "pulls/2")["head"]["sha"]
    github.pulls.hides, github.pulls.workflow_runs = {"checks"}, [workflow_run(head)]
    done = ghp(road, "agent-merge --queue")
    assert (done.code, done.out) == (0, "2\n"), done.err
    assert "Runs of GitHub Actions and statuses count instead" in done.err


@pytest.mark.slow
def test_a_person_merges_what_a_token_cannot_read_with_their_word(
    road: Road, github: GitHub
) -> None:
    github.pulls.hides = {"checks", "actions"}
    done = ghp(road, "agent-merge 2 --unchecked")
    line = (
        "This token lacks the permission to read Actions, so not all checks of the host are seen."
    )
    assert (done.code, done.out, done.err.splitlines().count(line)) == (0, "2\n", 1), done.err
