"""The cheap part of the decision doubts each question that the whole decision could settle."""

import os
from pathlib import Path

import pytest

from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.doubtful import STOPS, any_doubtful
from ghp_agents.escalations.escalation import Question
from ghp_agents.presence import stop_order
from ghp_agents.state.cause import DECIDED, LAST_RESORT, QUESTION, WORKFLOW
from ghp_agents.wiring import App
from tests.support.ghp import succeed


@pytest.mark.parametrize("kind", [QUESTION, WORKFLOW, LAST_RESORT, *DECIDED])
def test_a_question_is_doubtful_by_its_kind_or_if_its_agent_was_told_to_stop(
    repo: Path, kind: str
) -> None:
    succeed(repo, "agent-init", "agent-heartbeat --status testing --as w-a")
    app = App(repo, os.environ)
    asked = [escalation.ask_once(app, Question("w-a", "Which?", 1, (), kind)).escalation]
    assert any_doubtful(asked, app.store.snapshot()) is (kind not in (QUESTION, WORKFLOW))
    succeed(repo, "agent-stop w-a --as @me")
    told = App(repo, os.environ).store.snapshot()
    assert any_doubtful(asked, told) is (kind != WORKFLOW)


def test_without_an_issue_nothing_ends_it(repo: Path) -> None:
    succeed(repo, "agent-init", "agent-heartbeat --status stopped --as w-a")
    app = App(repo, os.environ)
    for issue, found in ((None, False), (1, True)):
        asked = [escalation.ask_once(app, Question("w-a", "Which?", issue)).escalation]
        assert any_doubtful(asked, app.store.snapshot()) is found


def test_the_folder_of_orders_is_theirs() -> None:
    assert STOPS == stop_order.FOLDER
