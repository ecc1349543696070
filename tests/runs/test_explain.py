"""Why an agent is started again for its issue, or not."""

from pathlib import Path

import pytest

from ghp_agents.runs import explain, folder
from ghp_agents.runs.explain import CauseTrace, ReactionTrace
from ghp_agents.runs.record import ENDED, FINISHED
from tests.support.ghp import invoke, succeed
from tests.support.git import commit
from tests.support.runs import RUN, Shift


def sent(shift: Shift) -> None:
    """A run of worker-1 has sent #1 as pull request #3, and changes were requested."""
    succeed(shift.repo, "agent-start 1 --as worker-1")
    place = Path(invoke("agent-where 1", shift.repo).out.strip())
    commit(place, {"a.txt": "a\n"})
    succeed(place, "agent-finish")
    run = RUN._replace(path=str(place), state=ENDED, outcome=FINISHED)
    folder.write(shift.app().ws, run)
    succeed(shift.repo, "agent-review 3 --request-changes 'Use tabs' --as worker-2")


@pytest.mark.slow
def test_what_stands_is_named_with_the_runs_that_tried_it(shift: Shift) -> None:
    sent(shift)
    words = "Agent worker-2 requested changes of pull request #3."
    assert explain.of_issue(shift.app(), 1) == ReactionTrace(
        "worker-1", [CauseTrace("review/3", words, 0)]
    )
    with folder.alone(shift.app().ws, "worker-1"):
        assert explain.of_issue(shift.app(), 1).is_supervised


def test_an_issue_without_runs_has_no_reactions(shift: Shift) -> None:
    assert explain.of_issue(shift.app(), 2) == ReactionTrace()


@pytest.mark.slow
def test_the_explanation_says_who_is_started_or_how(shift: Shift) -> None:
    sent(shift)
    with folder.alone(shift.app().ws, "worker-1"):
        assert invoke("agent-explain 1", shift.repo).out.endswith(
            "✗ Agent worker-2 requested changes of pull request #3.\n"
            "✓ worker-1 is started again for it, try 1 of 2.\n"
        )
    assert invoke("agent-explain 1", shift.repo).out.endswith(
        "✗ Agent worker-2 requested changes of pull request #3.\n"
        "✗ No `ghp agent-work` of this clone supervises worker-1, so nothing is started.\n"
        "  → ghp agent-work --agent worker-1\n"
    )
    for number in range(2):
        again = RUN._replace(id=f"{number}" * 12, state=ENDED, outcome=FINISHED, cause="review/3")
        folder.write(shift.app().ws, again)
    succeed(shift.repo, "agent-escalate 'How?' --issue 1 --as worker-1")
    [name] = [x.object for x in shift.app().store.ledger() if x.event == "escalate"]
    with folder.alone(shift.app().ws, "worker-1"):
        assert invoke("agent-explain 1", shift.repo).out.endswith(
            "✗ Agent worker-2 requested changes of pull request #3.\n"
            "✗ 2 runs tried to fix that, so a person decides.\n"
            f"  → ghp agent-answer {name} TEXT\n"
        )


@pytest.mark.slow
def test_the_state_of_a_job_goes_back_to_in_progress(shift: Shift) -> None:
    sent(shift)
    assert "#1   in_progress" in invoke("agent-jobs", shift.repo).out
