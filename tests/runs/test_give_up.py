"""After too many failures: the work is saved, the issue is free, and a person may be asked."""

from pathlib import Path

import pytest

from ghp_agents.claims import service as claims
from ghp_agents.core.errors import RefusedError
from ghp_agents.pulls import start
from ghp_agents.runs import give_up
from ghp_agents.runs.record import FAILED, RunRecord
from tests.support.ghp import invoke, succeed
from tests.support.runs import RUN, Shift


@pytest.fixture
def run(shift: Shift) -> RunRecord:
    started = start.start(shift.app("worker-1"), "1")
    (started.path / "half.txt").write_text("half\n")
    return RUN._replace(path=str(started.path), tries=1, outcome=FAILED, why="it fell")


@pytest.mark.slow
def test_the_issue_is_free_and_the_work_is_in_a_handoff(shift: Shift, run: RunRecord) -> None:
    where = give_up.free(shift.app("worker-1"), run)
    name = where.removeprefix("Its work is in ").removesuffix(".")
    assert claims.claim_next(shift.app("worker-2")).issue.number == 1
    resumed = invoke("agent-resume --issue 1 --as worker-2", shift.repo).out
    assert name in resumed
    assert "1 file" in resumed
    assert "failed: it fell" in resumed


def test_a_run_that_left_nothing_is_not_said_to_have_left_work(
    shift: Shift, run: RunRecord
) -> None:
    (Path(run.path) / "half.txt").unlink()
    assert give_up.free(shift.app("worker-1"), run).startswith("It left no work; H-")


@pytest.mark.slow
def test_another_agent_goes_on_unless_a_person_assigns_it_to_the_first(
    shift: Shift, run: RunRecord
) -> None:
    first, second = shift.app("worker-1"), shift.app("worker-2")
    give_up.free(first, run)
    with pytest.raises(RefusedError, match="1 is to be done by another agent"):
        claims.claim_next(first, skips={2})
    assert "Its runs at it failed" in invoke("agent-explain 1", shift.repo).out
    succeed(shift.repo, "agent-issue assign 1 worker-1 --as @me")
    assert claims.claim_next(first, skips={2}).issue.number == 1
    claims.release(first, "1")
    assert claims.claim_next(second, skips={2}).issue.number == 1


@pytest.mark.slow
def test_after_a_second_agent_nobody_goes_on_without_a_person(shift: Shift, run: RunRecord) -> None:
    first, second = shift.app("worker-1"), shift.app("worker-2")
    agents = ("worker-1", "worker-2")
    assert give_up.unfit(first, 1, agents) == set()
    give_up.free(first, run)
    claims.claim(second, "1")
    assert give_up.unfit(second, 1, agents) == {*agents}
    again = run._replace(agent="worker-2")
    give_up.free(second, again, give_up.ask(second, again))
    assert give_up.unfit(second, 1, agents) == set()


def test_who_lacks_a_capability_does_not_go_on(shift: Shift, run: RunRecord) -> None:
    succeed(shift.repo, "agent-issue edit 1 --label needs:gpu --as @me")
    succeed(shift.repo, "agent-whoami --capability rust --as worker-2")
    assert give_up.unfit(shift.app("worker-1"), 1, ("worker-1", "worker-2")) == {"worker-2"}


@pytest.mark.slow
def test_it_is_freed_once(shift: Shift, run: RunRecord) -> None:
    give_up.free(shift.app("worker-1"), run)
    assert give_up.free(shift.app("worker-1"), run) == ""


@pytest.mark.slow
def test_nobody_takes_the_issue_until_a_person_answers(shift: Shift, run: RunRecord) -> None:
    app = shift.app("worker-1")
    question = give_up.ask(app, run)
    assert give_up.ask(app, run) == question
    give_up.free(app, run)
    with pytest.raises(RefusedError):
        claims.claim_next(shift.app("worker-2"), skips={2})
    shown = invoke("agent-escalations", shift.repo).out
    assert "2 runs of worker-1 at #1 failed in a row." in shown
    succeed(shift.repo, f"agent-answer {question} 1 --as @me")
    assert give_up.left_to_people(app) == set()
    assert claims.claim_next(shift.app("worker-2"), skips={2}).issue.number == 1


@pytest.mark.slow
def test_a_person_can_keep_an_issue_from_agents(shift: Shift, run: RunRecord) -> None:
    app = shift.app("worker-1")
    question = give_up.ask(app, run)
    give_up.free(app, run)
    succeed(shift.repo, f"agent-answer {question} 2 --as @me")
    assert give_up.left_to_people(app) == {1}
    with pytest.raises(RefusedError, match="1 is left to a person"):
        claims.claim_next(shift.app("worker-2"), skips={2})
    shown = invoke("agent-explain 1", shift.repo).out
    assert f"It is left to a person: that is the answer to {question}." in shown
    succeed(shift.repo, f"agent-answer {question} retry --as @me")
    assert claims.claim_next(shift.app("worker-2"), skips={2}).issue.number == 1


@pytest.mark.slow
def test_an_answer_that_is_no_option_changes_nothing(shift: Shift, run: RunRecord) -> None:
    app = shift.app("worker-1")
    question = give_up.ask(app, run)
    give_up.free(app, run)
    done = invoke(["agent-answer", question, "nobody should do this", "--as", "@me"], shift.repo)
    assert (done.code, done.err.splitlines()) == (2, [
        f"Error: Nothing was changed: 'nobody should do this' is not one of the options of "
        f"{question}: 1. Try again; 2. Leave it to a person; 3. Close the issue.",
        f"Hint: Answer with a number: `ghp agent-answer {question} 1`. The question stays open. "
        "For a remark, comment on the issue.",
    ])  # fmt: skip
    assert question[:6] in invoke("agent-escalations --open", shift.repo).out
    with pytest.raises(RefusedError, match="waiting for a person to choose"):
        claims.claim_next(shift.app("worker-2"), skips={2})


@pytest.mark.slow
def test_a_person_can_close_the_issue_by_the_answer(shift: Shift, run: RunRecord) -> None:
    app = shift.app("worker-1")
    question = give_up.ask(app, run)
    succeed(shift.repo, f"agent-answer {question} 'Close it.' --as @me")
    assert app.tracker.get("1").state == "closed"
    assert give_up.left_to_people(app) == {1}
    shown = invoke(["agent-escalations", question], shift.repo).out
    assert "Close the issue\nResult: #1 is closed." in shown.replace("\n\n", "\n")
