"""What a supervisor knows of the issues of its agents."""

import pytest

from ghp_agents.runs import fleet_records
from ghp_agents.runs.fleet_records import FleetRecords, FreedIssues
from ghp_agents.runs.record import ASKS, FINISHED
from tests.support.ghp import succeed
from tests.support.runs import RUN, Shift

ASKING = RUN._replace(outcome=ASKS)


def read(shift: Shift) -> FleetRecords:
    return fleet_records.read(shift.app(), ["worker-1"], [ASKING])


def test_claims_of_others_are_known_without_a_name(shift: Shift) -> None:
    succeed(shift.repo, "agent-claim 1 --as worker-1", "agent-claim 2 --as worker-2")
    assert read(shift).claims == {1: "worker-1", 2: ""}


def test_a_question_is_answered_when_it_is_closed(shift: Shift) -> None:
    succeed(
        shift.repo, "agent-claim 1 --as worker-1", "agent-escalate 'Tabs?' --issue 1 --as worker-1"
    )
    assert read(shift).answered == frozenset()
    [name] = [x.object for x in shift.app().store.ledger() if x.event == "escalate"]
    succeed(shift.repo, f"agent-answer {name} Yes --as @me")
    assert read(shift).answered == {RUN.id}


@pytest.mark.slow
def test_who_is_told_to_stop_is_known(shift: Shift) -> None:
    succeed(shift.repo, "agent-claim 1 --as worker-1", "agent-stop worker-1 --as @me")
    assert read(shift).orders.keys() == {"worker-1"}


def test_an_issue_whose_claim_ended_after_its_work_is_left_alone_for_a_minute() -> None:
    done, freed = RUN._replace(outcome=FINISHED), FreedIssues()
    assert freed.young([done], {1: "worker-1"}, 0.0) == {1}
    assert freed.young([done], {}, 10.0) == {1}
    assert freed.young([done], {}, 69.0) == {1}
    assert freed.young([done], {}, 70.0) == frozenset()
    assert FreedIssues().young([RUN, ASKING], {}, 0.0) == frozenset()
