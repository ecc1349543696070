"""How a run ended is seen from what its agent left behind."""

from pathlib import Path

import pytest

from ghp_agents.pulls import start
from ghp_agents.runs import outcome
from ghp_agents.runs.outcome import RunOutcome
from ghp_agents.runs.record import (
    ASKS,
    BLOCKED,
    ENDED,
    FAILED,
    FINISHED,
    LOST,
    STOPPED,
    UNCHANGED,
    RunRecord,
)
from ghp_agents.runs.stream import ClientProgress
from tests.support.ghp import invoke, succeed
from tests.support.git import git
from tests.support.runs import RUN, Shift


@pytest.fixture
def run(shift: Shift) -> RunRecord:
    started = start.start(shift.app("worker-1"), "1")
    return RUN._replace(path=str(started.path), branch=started.branch)


def found(shift: Shift, run: RunRecord, code: int | None = 0, error: str = "") -> RunOutcome:
    return outcome.find(shift.app("worker-1"), run, code, error)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("code", "error", "why"),
    [
        (0, "", "it ended without `ghp agent-finish`"),
        (1, "no\nkey", "it exited with code 1: no key"),
        (None, "", "it was ended from outside"),
    ],
)
def test_without_a_result_it_failed(
    shift: Shift, run: RunRecord, code: int | None, error: str, why: str
) -> None:
    assert found(shift, run, code, error) == RunOutcome(FAILED, why)


def finish(run: RunRecord) -> None:
    inner = Path(run.path)
    (inner / "new.txt").write_text("new\n")
    git(inner, "add", ".")
    git(inner, "commit", "-qm", "new")
    succeed(inner, "agent-finish --as worker-1")


@pytest.mark.slow
def test_a_pull_request_is_a_result_whatever_the_exit_code(shift: Shift, run: RunRecord) -> None:
    finish(run)
    assert found(shift, run, 1) == RunOutcome(FINISHED, "pull request #3")


@pytest.mark.slow
def test_work_that_is_as_it_was_sent_back_is_no_new_result(shift: Shift, run: RunRecord) -> None:
    finish(run)
    (shift.repo / "new.txt").write_text("other\n")
    git(shift.repo, "add", ".")
    git(shift.repo, "commit", "-qm", "other")
    assert invoke("agent-merge 3 --unchecked --as @me", shift.repo).code != 0, "a conflict"
    words = "pull request #3 is as it was sent back"
    assert found(shift, run) == RunOutcome(UNCHANGED, words)
    assert found(shift, run, 3) == RunOutcome(UNCHANGED, f"{words}; it exited with code 3")
    succeed(shift.repo, "agent-escalate Why? --issue 1 --as worker-1")
    assert found(shift, run) == RunOutcome(ASKS, "it asked a person")


@pytest.mark.parametrize(("code", "declined"), [(0, 1), (1, 0), (None, 0)])
def test_only_a_client_that_ended_well_has_declined_to_change_its_work(
    code: int | None, declined: int
) -> None:
    progress = ClientProgress("s-1", 3, 0.5, 70)
    ended = outcome.settled(RUN, RunOutcome(UNCHANGED, "same"), code, progress)
    assert ended == RUN._replace(
        state=ENDED, outcome=UNCHANGED, why="same", turns=3, cost=0.5, tokens=70, session="s-1",
        declined=declined,
    )  # fmt: skip
    assert outcome.settled(RUN, RunOutcome(FINISHED, "new"), code, progress).declined == 0


@pytest.mark.slow
def test_a_merge_is_a_result_before_it_is_known_that_the_issue_is_closed(
    shift: Shift, run: RunRecord
) -> None:
    finish(run)
    succeed(shift.repo, "agent-merge 3 --unchecked --as @me", "agent-issue reopen 1 --as @me")
    assert found(shift, run) == RunOutcome(FINISHED, "its pull request is merged")
    succeed(shift.repo, "agent-release 1 --as @me", "agent-issue assign 1 worker-2 --as @me")
    succeed(shift.repo, "agent-claim 1 --as worker-2")
    assert found(shift, run) == RunOutcome(LOST, "#1 is no longer worker-1's")


@pytest.mark.slow
def test_a_pull_request_that_was_merged_before_a_run_is_not_its_result(
    shift: Shift, run: RunRecord
) -> None:
    finish(run)
    succeed(shift.repo, "agent-merge 3 --unchecked --as @me", "agent-issue reopen 1 --as @me")
    again = start.start(shift.app("worker-1"), "1")
    later = RUN._replace(path=str(again.path), branch=again.branch, at="9999-01-01T00:00:00Z")
    assert found(shift, later) == RunOutcome(FAILED, "it ended without `ghp agent-finish`")


def test_a_closed_issue_is_a_result(shift: Shift, run: RunRecord) -> None:
    succeed(shift.repo, "agent-issue close 1 --reason Obsolete --as @me")
    assert found(shift, run) == RunOutcome(FINISHED, "#1 is closed")


@pytest.mark.slow
def test_an_open_question_is_no_failure(shift: Shift, run: RunRecord) -> None:
    succeed(shift.repo, "agent-escalate 'Which?' --issue 1 --as worker-1")
    assert found(shift, run) == RunOutcome(ASKS, "it asked a person")


def test_an_issue_that_waits_for_another_is_no_failure(shift: Shift, run: RunRecord) -> None:
    succeed(shift.repo, "agent-issue block 1 --by 2 --as worker-1")
    assert found(shift, run) == RunOutcome(BLOCKED, "it waits for #2")


@pytest.mark.slow
def test_an_issue_that_went_to_another_is_lost(shift: Shift, run: RunRecord) -> None:
    succeed(shift.repo, "agent-release 1 --as @me")
    assert found(shift, run) == RunOutcome(LOST, "#1 is no longer worker-1's")


@pytest.mark.slow
def test_an_agent_that_was_told_to_stop_has_stopped(shift: Shift, run: RunRecord) -> None:
    succeed(shift.repo, "agent-stop worker-1 --as @me")
    assert found(shift, run) == RunOutcome(STOPPED, "its agent was told to stop")


@pytest.mark.parametrize(
    ("code", "why", "seconds", "turns", "is_so"),
    [
        (127, "", 1.0, 0, True),
        (126, "", 1.0, 0, True),
        (1, "it exited with code 1: bwrap: execvp x: No such file", 1.0, 0, True),
        (1, "it exited with code 1: no key", 1.0, 0, False),
        (127, "", 60.0, 0, False),  # a step of the client
        (127, "", 1.0, 1, False),
        (None, "", 1.0, 0, False),
    ],
)
def test_only_a_program_that_was_not_found_or_executed_never_began(
    code: int | None, why: str, seconds: float, turns: int, is_so: bool
) -> None:
    run = RUN._replace(outcome=FAILED, why=why)
    assert outcome.never_began(run, code, ClientProgress(turns=turns), seconds) is is_so
    assert not outcome.never_began(run._replace(outcome=FINISHED), code, ClientProgress(), seconds)
