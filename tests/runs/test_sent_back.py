"""From a pull request that was sent back to its merge: scripted clients and real merges."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.runs import processes
from ghp_agents.runs.supervisor import Supervisor
from tests.support.ghp import invoke, succeed
from tests.support.road import Road
from tests.support.runs import WORKS, Shift, shift_of, states

# Not in a run, and not of main.
CHECK = 'test -n "$GHP_RUN" || ! test -e work.txt || { echo "No work here, please"; exit 1; }'


def questions(shift: Shift) -> list[str]:
    """The names of all questions."""
    return [entry.object for entry in shift.app().store.ledger() if entry.event == "escalate"]


def merge(road: Road) -> None:
    """Somebody tries to merge, after main has moved."""
    road.put({f"{len(road.trunk)}.txt": ""})
    invoke("agent-merge 3 --as @me", road.folder)


def run(shift: Shift, supervisor: Supervisor) -> None:
    """Look for a cause; if a run begins, let it end."""
    shift.clock.wait(2)
    before = len(shift.runs())
    supervisor.step()
    if len(shift.runs()) > before:
        shift.ended()
        supervisor.step()


@pytest.mark.slow
def test_after_two_runs_for_failed_checks_a_person_is_asked_once(shift: Shift) -> None:
    succeed(shift.repo, "agent-issue close 2 --reason Later --as @me")
    road = Road(shift.repo, shift.clock)
    road.configure({"checks": [CHECK]})
    supervisor = shift.supervisor(WORKS)
    for _ in range(5):
        run(shift, supervisor)
        merge(road)
        shift.clock.wait(60)
    assert states(shift.runs()) == [
        ("worker-1", 1, "finished"), ("worker-1", 1, "finished"), ("worker-1", 1, "asks"),
    ]  # fmt: skip
    assert [x.cause for x in shift.runs()] == ["", "checks/3", "checks/3"]
    assert "a check failed (round 2)" in shift.prompt()
    assert "\nNo work here, please\n" in shift.prompt()
    [question] = questions(shift)
    succeed(shift.repo, f"agent-answer {question} 'worker-1 tries again' --as @me")
    run(shift, supervisor)
    assert len(shift.runs()) == 4


@pytest.mark.slow
def test_after_one_run_that_changed_nothing_a_person_is_asked(shift: Shift) -> None:
    road = Road(shift.repo, shift.clock)
    road.configure({"checks": [CHECK]})
    succeed(shift.repo, "agent-issue close 2 --reason Later --as @me")
    supervisor = shift.supervisor(f"[ -f work.txt ] && exit 0; {WORKS}")
    for _ in range(4):
        run(shift, supervisor)
        merge(road)
        shift.clock.wait(60)
    assert states(shift.runs()) == [("worker-1", 1, "finished"), ("worker-1", 1, "asks")]
    assert "pull request #3 is as it was sent back" in shift.last().why
    assert len(questions(shift)) == 1
    explained = invoke("agent-explain 1", shift.repo).out
    assert "✗ 1 run tried to fix that, so a person decides.\n" in explained


@pytest.mark.slow
def test_a_person_who_looks_at_it_is_left_alone(shift: Shift) -> None:
    road = Road(shift.repo, shift.clock)
    road.configure({"checks": [CHECK]})
    succeed(shift.repo, "agent-issue close 2 --reason Later --as @me")
    supervisor = shift.supervisor(WORKS)
    for _ in range(4):
        run(shift, supervisor)
        merge(road)
    [question] = questions(shift)
    succeed(shift.repo, f"agent-answer {question} 'I look at it myself' --as @me")
    for _ in range(3):
        run(shift, supervisor)
        shift.clock.wait(60)
    assert len(shift.runs()) == 3
    assert len(questions(shift)) == 1


@pytest.mark.slow
def test_an_issue_that_waits_is_continued_after_its_blocker(shift: Shift) -> None:
    block = f"{sys.executable} -m ghp_agents agent-issue block 1 --by 2 >/dev/null 2>&1"
    supervisor = shift.supervisor(f"[ -f blocked ] || {block}; touch blocked")
    succeed(shift.repo, "agent-claim 2 --as @me")
    run(shift, supervisor)
    run(shift, supervisor)
    assert states(shift.runs()) == [("worker-1", 1, "blocked")]
    succeed(shift.repo, "agent-issue close 2 --reason Done --as @me")
    run(shift, supervisor)
    assert [x.cause for x in shift.runs()] == ["", "unblocked/2/1"]
    again = "You are started again for this:\n\nNothing blocks #1 any more: #2 is closed. Continue."
    assert again in shift.prompt()


@pytest.fixture
def two(clones: Callable[[int], list[Path]], monkeypatch: pytest.MonkeyPatch) -> "Shift":
    monkeypatch.setenv("GHP_BACKGROUND", "0")
    one, other = clones(2)
    succeed(one, "agent-init")
    shift = shift_of(one, "One")
    succeed(one, "agent-sync")
    succeed(other, "agent-init", "agent-sync")
    return shift


@pytest.mark.slow
def test_a_review_in_another_clone_starts_the_run_that_answers_it(two: Shift) -> None:
    other = two.repo.parent / "clone-2"
    supervisor = two.supervisor(WORKS)
    run(two, supervisor)
    assert states(two.runs()) == [("worker-1", 1, "finished")]
    succeed(two.repo, "agent-sync")
    succeed(
        other, "agent-sync", "agent-review 2 --request-changes 'Say less' --as @me", "agent-sync"
    )
    succeed(two.repo, "agent-sync")
    run(two, supervisor)
    assert [x.cause.split("/")[0] for x in two.runs()] == ["", "review"]
    assert "\nSay less\n" in two.prompt()
    succeed(two.repo, "agent-sync")
    succeed(
        other,
        "agent-sync",
        "agent-review 2 --approve --as @me",
        "agent-merge 2 --unchecked --as @me",
    )
    succeed(two.repo, "agent-sync")
    two.clock.wait(60)
    run(two, supervisor)
    assert len(two.runs()) == 2
    assert "work.txt" in Road(other).trunk
    assert processes.marked(two.last().id) == []
