"""What calls an agent back, read from the records of its pull request."""

from pathlib import Path

import pytest

from ghp_agents.runs import causes
from ghp_agents.runs.host_news import HostNews
from ghp_agents.runs.record import BLOCKED
from tests.support.ghp import invoke, succeed
from tests.support.git import commit
from tests.support.runs import RUN, Shift


def sent(shift: Shift) -> Path:
    """worker-1 has sent #1 as pull request #3."""
    succeed(shift.repo, "agent-start 1 --as worker-1")
    place = Path(invoke("agent-where 1", shift.repo).out.strip())
    commit(place, {"a.txt": "a\n"})
    succeed(place, "agent-finish")
    return place


@pytest.mark.slow
def test_a_request_for_changes_stands_until_the_work_is_sent_again(shift: Shift) -> None:
    place = sent(shift)
    assert causes.standing(shift.app(), [RUN]) == []
    succeed(shift.repo, "agent-review 3 --request-changes 'Use tabs' --as worker-2")
    [cause] = causes.standing(shift.app(), [RUN])
    assert (cause.key, cause.issue) == ("review/3", 1)
    assert "```\nUse tabs\n```\nEnd of the review by agent worker-2." in cause.text
    commit(place, {"a.txt": "\ta\n"})
    assert [x.key for x in causes.standing(shift.app(), [RUN])] == ["review/3"]
    succeed(place, "agent-finish")
    assert causes.standing(shift.app(), [RUN]) == []


@pytest.mark.slow
def test_a_review_of_anothers_issue_calls_nobody(shift: Shift) -> None:
    sent(shift)
    succeed(shift.repo, "agent-review 3 --request-changes 'Use tabs' --as worker-2")
    assert causes.standing(shift.app(), [RUN._replace(issue=2)]) == []
    assert causes.standing(shift.app(), []) == []


def test_an_issue_that_waited_goes_on_when_its_blockers_are_closed(shift: Shift) -> None:
    succeed(shift.repo, "agent-start 1 --as worker-1", "agent-issue block 1 --by 2 --as worker-1")
    waits = RUN._replace(outcome=BLOCKED)
    assert causes.standing(shift.app(), [waits]) == []
    succeed(shift.repo, "agent-issue close 2 --reason Done --as @me")
    [cause] = causes.standing(shift.app(), [waits])
    assert (cause.key, cause.is_heard) == ("unblocked/2/1", True)


@pytest.mark.slow
def test_an_answer_calls_the_agent_unless_a_person_takes_over(shift: Shift) -> None:
    succeed(
        shift.repo, "agent-start 1 --as worker-1", "agent-escalate 'Tabs?' --issue 1 --as worker-1"
    )
    [name] = [x.object for x in shift.app().store.ledger() if x.event == "escalate"]
    assert causes.standing(shift.app(), [RUN]) == []
    succeed(shift.repo, f"agent-answer {name} 'I look at it myself' --as @me")
    assert causes.standing(shift.app(), [RUN]) == []
    succeed(shift.repo, f"agent-answer {name} Yes --as @me")
    assert [cause.key for cause in causes.standing(shift.app(), [RUN])] == [f"answer/{name}"]


@pytest.mark.slow
def test_what_the_host_says_counts_for_the_commit_that_it_checked(shift: Shift) -> None:
    sent(shift)
    head = shift.app().forge.get(3).head
    news = HostNews(head, "build: failure", ())
    assert [x.key for x in causes.standing(shift.app(), [RUN], {3: news})] == ["checks/3"]
    assert causes.standing(shift.app(), [RUN], {3: news._replace(head="0" * 40)}) == []
