"""After too many failures: the work is saved, the issue is free, and a person may be asked."""

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


def test_the_issue_is_free_and_the_work_is_in_a_handoff(shift: Shift, run: RunRecord) -> None:
    name = give_up.free(shift.app("worker-1"), run)
    assert claims.claim_next(shift.app("worker-2")).issue.number == 1
    resumed = invoke("agent-resume --issue 1 --as worker-2", shift.repo).out
    assert name in resumed
    assert "1 file" in resumed
    assert "failed: it fell" in resumed


def test_it_is_freed_once(shift: Shift, run: RunRecord) -> None:
    give_up.free(shift.app("worker-1"), run)
    assert give_up.free(shift.app("worker-1"), run) == ""


def test_nobody_takes_the_issue_until_a_person_answers(shift: Shift, run: RunRecord) -> None:
    app = shift.app("worker-1")
    asked = give_up.ask(app, run)
    assert give_up.ask(app, run) == asked
    give_up.free(app, run)
    with pytest.raises(RefusedError):
        claims.claim_next(shift.app("worker-2"), skips={2})
    shown = invoke("agent-escalations", shift.repo).out
    assert "2 runs of worker-1 at #1 failed in a row." in shown
    succeed(shift.repo, f"agent-answer {asked} 1 --as @me")
    assert give_up.left_to_people(app) == set()
    assert claims.claim_next(shift.app("worker-2"), skips={2}).issue.number == 1


def test_a_person_can_keep_an_issue_from_agents(shift: Shift, run: RunRecord) -> None:
    app = shift.app("worker-1")
    succeed(shift.repo, f"agent-answer {give_up.ask(app, run)} 2 --as @me")
    assert give_up.left_to_people(app) == {1}
