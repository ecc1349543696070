"""What comes back is told to its agent; what others merged or opened is known as theirs."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.runs import folder
from tests.support.ghp import Result, invoke
from tests.support.git import commit, git, refs
from tests.support.repos import Restored, Site
from tests.support.road import Road, merged, sent_back

OID = re.compile(r"\b[0-9a-f]{12}\b")
BRANCH = "agent/worker-1/1-parse-files"
CAME_BACK = (
    "Pull request #2 (for #1) was sent back: it conflicts with main (round 1). The reason: "
    "conflict with main in `a.txt`. `ghp agent-issue show 1` shows all. In its worktree, merge "
    "main into the branch, resolve the conflicts and commit; then run `ghp agent-finish`."
)
MEND = (
    "1. Fix #2 (sent back, round 1): conflict with main in `a.txt`. In its worktree, merge main "
    "into the branch, resolve the conflicts and commit; then run `ghp agent-finish`."
)


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No background process; nobody is named but by --as."""
    monkeypatch.setenv("GHP_BACKGROUND", "0")


def ghp(road: Road, args: str) -> Result:
    result = invoke(args, road.folder, clock=road.clock)
    return Result(result.code, *(OID.sub("<commit>", text) for text in result[1:]))


def conflicting(site: Site) -> None:
    """A pull request that conflicts with the trunk."""
    road = Road(site.make_repo())
    road.issue("Parse files")
    road.done("worker-1", 1, {"a.txt": "mine\n"})
    road.put({"a.txt": "theirs\n"})


@pytest.fixture
def road(restored: Restored) -> Road:
    return Road(restored(conflicting).repo)


# -------------------------------------------------------------------------------- told


@pytest.mark.slow
def test_what_came_back_is_told_until_it_is_mended(road: Road) -> None:
    sent_back(road.merge(1))
    for _ in range(2):
        assert CAME_BACK in ghp(road, "agent-status --as worker-1").out.splitlines()
    assert "sent back" not in ghp(road, "agent-status --as lead").out
    steps = ghp(road, "agent-resume --as worker-1").out.split("## Next steps\n\n")[1]
    assert steps.splitlines()[:2] == [MEND, "2. Continue with #1."]
    git(road.folder, "update-ref", f"refs/heads/{BRANCH}", "main")  # the agent went on
    assert "sent back" not in ghp(road, "agent-status --as worker-1").out
    assert "Fix #2" not in ghp(road, "agent-resume --as worker-1").out


@pytest.mark.background
@pytest.mark.slow
def test_another_clone_tells_it_after_a_sync(clones: Callable[[int], list[Path]]) -> None:
    one, two = (Road(folder) for folder in clones(2))
    one.issue("Parse files")
    one.done("worker-1", 1, {"a.txt": "mine\n"})
    one.put({"a.txt": "theirs\n"})
    one.sync()
    assert ghp(two, "agent-merge 1 --as lead").code == 1  # which sends what it said
    assert CAME_BACK not in ghp(one, "agent-status --as worker-1").out
    one.sync()
    assert CAME_BACK in ghp(one, "agent-status --as worker-1").out


# ------------------------------------------------------------------------------- the queue


@pytest.mark.slow
def test_a_queue_with_one_that_goes_back_ends_with_1(road: Road) -> None:
    queue = ghp(road, "agent-merge --queue --unchecked --as lead")
    assert (queue.code, queue.out) == (1, "")
    assert queue.err.endswith(
        "Error: Not merged, but sent back: #2.\n"
        "Hint: worker-1 is notified at its next step. Nothing of it is on main.\n"
    )


@pytest.mark.slow
def test_what_goes_back_to_an_agent_that_ended_names_what_continues_it(road: Road) -> None:
    ghp(road, "agent-heartbeat --status stopped --as worker-1")
    command = "ghp agent-start 1 --as worker-1"
    assert ghp(road, "agent-merge 2 --unchecked --as lead").err.endswith(
        f"Hint: worker-1: it has stopped. To continue: `{command}`. Nothing of it is on main.\n"
    )
    shown = json.loads(invoke("agent-status --json", road.folder).out)["agents"]["worker-1"]
    (need,) = shown["needs"]
    assert (need["kind"], need["command"]) == ("conflict", command)


@pytest.mark.slow
def test_a_supervised_agent_is_started_again_with_what_goes_back(road: Road) -> None:
    ghp(road, "agent-heartbeat --status stopped --as worker-1")
    with folder.alone(road.house("lead").ws, "worker-1"):
        back = ghp(road, "agent-merge 2 --unchecked --as lead").err
    assert "Hint: `ghp agent-work` starts worker-1 again. Nothing" in back


@pytest.mark.slow
def test_a_queue_takes_no_credit_for_what_was_merged_already(repo: Path) -> None:
    road = Road(repo)
    road.issue("Parse files")
    road.done("worker-1", 1, {"a.txt": "mine\n"})
    state = repo / ".git/ghp/state.git"
    before = refs(state, "refs/ghp/clone")
    merged(road.merge(1))
    for ref, was in before.items():  # another clone merged, and this one has not heard of it
        git(state, "update-ref", ref, was)
    queue = ghp(road, "agent-merge --queue --unchecked --as lead")
    assert (queue.code, queue.out) == (0, "")
    assert queue.err.splitlines()[:2] == [
        "#2 is already on main as <commit>, committed by Test Person.",
        "Closed #1 «Parse files».",
    ]


# -------------------------------------------------------------------------- opened just now


@pytest.mark.slow
@pytest.mark.parametrize("what", ["1", "--queue"])
def test_what_another_clone_finished_just_now_can_be_merged(
    clones: Callable[[int], list[Path]], what: str
) -> None:
    one, two = (Road(folder) for folder in clones(2))
    one.issue("Parse files")
    path = one.start("worker-1").path
    commit(path, {"a.txt": "mine\n"})
    one.sync()
    two.sync()  # so that nobody asks again for a while
    finished = invoke("agent-finish --json --as worker-1", path, clock=one.clock)
    done = ghp(two, f"agent-merge {what} --unchecked --as lead")
    assert (done.code, done.out) == (0, f"{json.loads(finished.out)['number']}\n")
