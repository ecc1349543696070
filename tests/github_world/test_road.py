"""The way to the trunk on GitHub: started, finished, merged, closed; and sent back."""

from collections.abc import Callable

import pytest

from ghp_agents.core.errors import RefusedError, UnknownError
from ghp_agents.pulls.merging.merge import Merged
from ghp_agents.pulls.merging.merge_batch import Passed
from tests.support.clock import ManualClock
from tests.support.faults import at_random
from tests.support.git import commit, git
from tests.support.github import ADMIN, GitHub
from tests.support.road import Road, merged, sent_back
from tests.support.thorough import some


@pytest.fixture
def road(github: GitHub, monkeypatch: pytest.MonkeyPatch) -> Road:
    """A clone of somebody's, and an issue that a person made on GitHub's own pages."""
    for name, value in github.environment(ADMIN).items():
        monkeypatch.setenv(name, value)
    github.proxy.clock = clock = ManualClock()
    github.issue("Parse files", body="### Goal\n\nRead all files")
    return Road(github.clone("clone"), clock)


def pulls(github: GitHub, **query: str) -> list[dict[str, object]]:
    listed = github.act(ADMIN, "GET", "pulls", **query)
    assert isinstance(listed, list)
    return listed


@pytest.mark.slow
def test_from_an_issue_to_the_trunk(road: Road, github: GitHub) -> None:
    started = road.start("worker-1")
    assert started.branch == "agent/worker-1/1-parse-files"
    commit(started.path, {"a.txt": "one\n"}, "Parse one file")
    done = road.finish("worker-1", started.path)
    assert done.pull.url.endswith(f"/pull/{done.pull.number}")
    raw = github.act(ADMIN, "GET", f"pulls/{done.pull.number}")
    assert "«Parse one file»" in raw["body"]
    footer = "<sub>A program (ghp-agents) wrote this for the agent worker-1 and ada.</sub>"
    assert f"\n\nCloses #1\n\n{footer}\n\n<!-- ghp-agents:" in raw["body"]
    again = road.finish("worker-1", started.path)
    assert (again.is_new, again.pull.number) == (False, done.pull.number)
    outcome = merged(road.merge(done.pull.number))
    assert outcome.pull.merged_as == road.tip
    assert set(road.trunk) >= {"a.txt"}
    assert github.act(ADMIN, "GET", "issues/1")["state"] == "closed"
    assert github.act(ADMIN, "GET", "issues/1/comments") == []
    assert git(github.remote, "for-each-ref", "refs/heads/agent") == ""
    assert merged(road.merge(1)).before
    assert github.act(ADMIN, "GET", "issues/1/comments") == []
    assert len(pulls(github, state="all")) == 1


@pytest.mark.slow
def test_a_branch_that_is_behind_is_brought_up_before_github_merges_it(
    road: Road, github: GitHub
) -> None:
    done = road.done("worker-1", 1, {"a.txt": "one\n"})
    git(road.folder, "pull", "--quiet")
    trunk = road.put({"news.txt": "new\n"})
    outcome = merged(road.merge(1))
    head = outcome.pull.head
    assert git(github.remote, "rev-parse", f"{head}^1", f"{head}^2").split() == [
        done.pull.head, trunk,
    ]  # fmt: skip
    assert set(road.trunk) >= {"a.txt", "news.txt"}


@pytest.mark.slow
def test_the_queue_takes_what_agents_finished_and_no_pull_request_of_peoples(
    road: Road, github: GitHub
) -> None:
    done = road.done("worker-1", 1, {"a.txt": "one\n"})
    git(road.folder, "switch", "--quiet", "-c", "for-review")
    commit(road.folder, {"b.txt": "two\n"})
    git(road.folder, "push", "--quiet", "origin", "for-review")
    git(road.folder, "switch", "--quiet", "main")
    body = {"title": "Please review", "head": "for-review", "base": "main", "body": "Closes #1"}
    theirs = github.act(ADMIN, "POST", "pulls", body)["number"]
    one, two = road.queue()
    assert isinstance(one, Merged)
    assert one.pull.number == done.pull.number
    assert isinstance(two, Passed)
    assert two.why == "`agent-finish` did not send it."
    assert two.pull.number == theirs
    assert "b.txt" not in road.trunk


@pytest.mark.slow
def test_a_red_check_of_the_host_sends_it_back_and_a_running_one_is_waited_for(
    road: Road, github: GitHub
) -> None:
    done = road.done("worker-1", 1, {"a.txt": "one\n"})
    run = {"name": "build", "head_sha": done.pull.head, "status": "in_progress"}
    created = github.act(ADMIN, "POST", "check-runs", run)
    with pytest.raises(RefusedError, match=r"The checks of #2 are still running\."):
        road.merge(1)
    ended = {"status": "completed", "conclusion": "failure"}
    github.act(ADMIN, "PATCH", f"check-runs/{created['id']}", ended)
    back = sent_back(road.merge(1))
    assert (back.returned.reason, back.returned.text) == ("checks", "build: failure")
    (comment,) = github.act(ADMIN, "GET", "issues/1/comments")
    assert comment["body"].startswith("Pull request #2 (for #1) was sent back: a check failed")


@pytest.mark.slow
def test_a_host_that_checks_is_given_the_time_to_begin_with_what_is_new(
    road: Road, github: GitHub
) -> None:
    done = road.done("worker-1", 1, {"a.txt": "one\n"})
    run = {"name": "build", "status": "completed", "conclusion": "success"}
    github.act(ADMIN, "POST", "check-runs", {**run, "head_sha": done.pull.head})
    git(road.folder, "pull", "--quiet")
    road.put({"news.txt": "new\n"})
    with pytest.raises(RefusedError, match="are still running"):
        road.merge(1)
    head = git(github.remote, "rev-parse", done.pull.branch)
    assert git(github.remote, "rev-parse", f"{head}^1") == done.pull.head
    github.act(ADMIN, "POST", "check-runs", {**run, "head_sha": head})
    assert merged(road.merge(1)).pull.head == head


@pytest.mark.slow
def test_what_is_red_here_is_not_pushed_there(road: Road, github: GitHub) -> None:
    done = road.done("worker-1", 1, {"a.txt": "one\n"})
    git(road.folder, "pull", "--quiet")
    road.put({"news.txt": "new\n"})
    github.configure(road.folder, {"checks": ["! test -e news.txt || ! test -e a.txt"]})
    sent_back(road.merge(1))
    assert git(github.remote, "rev-parse", done.pull.branch) == done.pull.head


@pytest.mark.slow
def test_a_conflict_is_found_before_github_is_asked(road: Road, github: GitHub) -> None:
    road.done("worker-1", 1, {"README.md": "ours\n"})
    git(road.folder, "pull", "--quiet")
    road.put({"README.md": "theirs\n"})
    back = sent_back(road.merge(1))
    assert (back.returned.reason, back.returned.text) == ("conflict", "README.md")
    assert [pull["state"] for pull in pulls(github)] == ["open"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", some(range(6), every=3))
def test_with_everything_going_wrong_it_is_done_once(road: Road, github: GitHub, seed: int) -> None:
    started = road.start("worker-1")
    commit(started.path, {"a.txt": "one\n"}, "Parse one file")
    github.proxy.faults = at_random(seed, 0.3, most=40)
    _insisting(road, lambda: road.finish("worker-1", started.path))
    _insisting(road, lambda: merged(road.merge(1)))
    assert [pull["state"] for pull in pulls(github, state="all")] == ["closed"]
    assert github.act(ADMIN, "GET", "issues/1")["state"] == "closed"
    assert github.act(ADMIN, "GET", "issues/1/comments") == []
    subjects = git(github.remote, "log", "--format=%s", "--first-parent", "main").splitlines()
    assert len([line for line in subjects if line.startswith("Merge")]) == 1


def _insisting(road: Road, act: Callable[[], object]) -> None:
    """As who runs a command again until it says that it is done."""
    for _ in range(60):
        try:
            act()
        except UnknownError:
            road.clock.wait(4_000)
            continue
        return
    pytest.fail("it never ended")


@pytest.mark.slow
def test_the_queue_checks_several_together_and_github_merges_them_in_turn(
    road: Road, github: GitHub
) -> None:
    numbers = [1, *(github.issue(f"Issue {n}", body="") for n in (2, 3))]
    for number in numbers:
        files = {"bad.txt" if number == numbers[1] else f"{number}.txt": "new\n"}
        road.done(f"worker-{number}", number, files)
    git(road.folder, "pull", "--quiet")
    runs = road.folder.parent / "runs"
    github.configure(road.folder, {"checks": [f"echo run >> {runs}; test ! -e bad.txt"]})
    outcomes = road.queue()
    assert [(type(outcome).__name__, outcome.pull.issue) for outcome in outcomes] == [
        ("Merged", numbers[0]),
        ("Merged", numbers[2]),
        ("SentBack", numbers[1]),
    ]
    assert "bad.txt" not in road.trunk
    assert len(runs.read_text().splitlines()) <= 5
    assert [github.act(ADMIN, "GET", f"issues/{n}")["state"] for n in numbers] == [
        "closed",
        "open",
        "closed",
    ]
