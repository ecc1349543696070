"""What calls an agent back, read from the records of its pull request."""

from pathlib import Path

from ghp_agents.runs import causes
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


def test_a_request_for_changes_stands_until_the_work_is_sent_again(shift: Shift) -> None:
    place = sent(shift)
    assert causes.standing(shift.app(), [RUN]) == []
    succeed(shift.repo, "agent-review 3 --request-changes 'Use tabs' --as worker-2")
    [cause] = causes.standing(shift.app(), [RUN])
    assert (cause.key, cause.issue) == ("review/3", 1)
    assert "```\nUse tabs\n```\nEnd of the review by agent worker-2." in cause.text
    commit(place, {"a.txt": "\ta\n"})
    assert [each.key for each in causes.standing(shift.app(), [RUN])] == ["review/3"]
    succeed(place, "agent-finish")
    assert causes.standing(shift.app(), [RUN]) == []


def test_a_review_of_anothers_issue_calls_nobody(shift: Shift) -> None:
    sent(shift)
    succeed(shift.repo, "agent-review 3 --request-changes 'Use tabs' --as worker-2")
    assert causes.standing(shift.app(), [RUN._replace(issue=2)]) == []
    assert causes.standing(shift.app(), []) == []
