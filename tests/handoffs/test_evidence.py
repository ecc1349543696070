"""Evidence is found out; what cannot be had becomes a note and hides nothing else."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import NotFoundError, UnknownError
from ghp_agents.core.ids import Actor, AgentName
from ghp_agents.handoffs import evidence
from ghp_agents.handoffs.evidence import Branch, EvidenceTopic
from tests.support.context import make_context
from tests.support.git import commit, git
from tests.support.handoffs import Station, begin_work, make_team

WORKER = Actor(AgentName("worker-1"))


@pytest.fixture
def here(repo: Path) -> Station:
    """worker-1 on its branch for #2, which waits for #1."""
    begin_work(repo)
    return make_team().at(repo)


def about(here: Station, issue: str | None = None, actor: Actor = WORKER) -> EvidenceTopic:
    return evidence.topic(make_context(here.ws, tracker=here.team.tracker), actor, issue)


# ------------------------------------------------------------------------------ the topic


def test_the_issue_in_hand_is_the_topic_with_what_blocks_it(here: Station) -> None:
    topic = about(here)
    assert (topic.number, topic.numbers, topic.notes) == (2, (2,), ())
    assert [blocker.title for blocker in topic.blockers] == ["Storage"]


def test_an_issue_that_is_named_comes_before_the_one_in_hand(here: Station) -> None:
    assert about(here, "1").number == 1


def test_work_without_an_issue_is_a_topic_too(repo: Path) -> None:
    station = make_team().at(repo)
    assert about(station) == EvidenceTopic(WORKER)
    assert about(station).numbers == (None,)


def test_an_issue_that_is_named_and_is_not_there_is_an_error(here: Station) -> None:
    with pytest.raises(NotFoundError):
        about(here, "99")


def test_a_branch_that_names_an_issue_that_is_not_there_is_noted(repo: Path) -> None:
    begin_work(repo, "agent/worker-1/99-ghost")
    topic = about(make_team().at(repo))
    assert (topic.number, topic.issue) == (99, None)
    assert topic.notes[0].endswith("The branch or the agent refers to it.")


def test_a_tracker_out_of_reach_leaves_the_number_and_a_note(here: Station) -> None:
    here.team.tracker.reachable = False
    topic = about(here, "#2")
    assert (topic.number, topic.issue) == (2, None)
    assert topic.notes == ("Cannot read issue #2: The tracker cannot be reached.",)


def test_an_id_cannot_be_guessed_at_without_the_tracker(here: Station) -> None:
    here.team.tracker.reachable = False
    with pytest.raises(UnknownError):
        about(here, "I-3f9a")


# ------------------------------------------------------------------------------ the branch


def test_the_branch_tells_what_was_committed_on_top_of_the_trunk(here: Station) -> None:
    base = git(here.folder, "rev-parse", "main")
    head = commit(here.folder, {"dash.py": "x = 1\ny = 2\n"}, "Begin the dashboard")
    branch = evidence.branch(here.ws)
    assert (branch.name, branch.head, branch.tip) == ("agent/worker-1/2-dashboard", head, head)
    assert (branch.trunk, branch.unsent, branch.operation) == ("main", None, None)
    assert (branch.history.base, branch.history.total) == (base, 1)
    assert [(file.path, file.added, file.removed) for file in branch.history.files] == [
        ("dash.py", 2, 0)
    ]


def test_commits_in_no_remote_are_counted(clones: Callable[[int], list[Path]]) -> None:
    (clone,) = clones(1)
    begin_work(clone)
    commit(clone, {"a": "1\n"})
    assert evidence.branch(make_team().at(clone).ws).unsent == 1


def test_a_bare_repository_has_no_branch_in_hand(remote: Path) -> None:
    assert evidence.branch(make_team().at(remote).ws) == Branch()


# ------------------------------------------------------------------------------ what was said


def test_only_what_concerns_the_topic_is_told(here: Station) -> None:
    here.ask("Which colour?")
    here.ask("Which database?", issue="1")
    here.hand_over(checkpoint=True)
    facts = evidence.topic_facts(here.team.parts(here.ws), about(here))
    assert [question.title for question in facts.escalations] == ["Which colour?"]
    assert [handoff.kind for handoff in facts.handoffs] == ["checkpoint"]
    assert {entry.issue for entry in facts.ledger} == {2}
    assert facts.notes == ()


def test_without_an_issue_what_concerns_the_agent_is_told(repo: Path) -> None:
    team = make_team()
    mine, others = team.at(repo), team.at(repo, "worker-2")
    mine.ask("Mine?")
    others.ask("Theirs?")
    others.hand_over(to="worker-1")
    others.hand_over(to="worker-3", note="For another.")
    facts = evidence.topic_facts(team.parts(mine.ws), about(mine))
    assert [question.title for question in facts.escalations] == ["Mine?"]
    assert [handoff.to for handoff in facts.handoffs] == ["worker-1"]


def test_a_handoff_under_an_earlier_number_is_found(here: Station) -> None:
    here.hand_over(checkpoint=True)
    issue = here.issue()
    renumbered = issue._replace(number=issue.number.__class__(5), other_numbers=(issue.number,))
    topic = EvidenceTopic(WORKER, 5, renumbered)
    handoffs, problems = evidence.handoffs_about(here.team.store.snapshot(), topic)
    assert (len(handoffs), problems) == (1, [])


# ------------------------------------------------------------------------------ rights


def test_what_others_hold_is_not_ours(here: Station) -> None:
    here.team.locks.acquire("trunk", "worker-1", expected=None)
    here.team.locks.acquire("numbers", "worker-2", expected=None)
    held, why_not = evidence.held_locks(here.team.locks, WORKER)
    assert ([lease.name for lease in held], why_not) == (["trunk"], "")


def test_the_counter_of_issues_is_nothing_that_anybody_has(here: Station) -> None:
    here.team.locks.acquire("numbers", "worker-1", expected=None)
    assert evidence.held_locks(here.team.locks, WORKER) == ([], "")


def test_rights_out_of_reach_are_not_known_rather_than_none(here: Station) -> None:
    here.team.board.reachable = False
    held, why_not = evidence.held_locks(here.team.locks, WORKER)
    assert held == []
    assert why_not.startswith("The held locks are unknown: ")
