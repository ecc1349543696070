"""A label while a question is open, and who is to answer; nothing else is touched."""

import json
from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError, UnknownError
from ghp_agents.core.ids import Actor
from ghp_agents.escalations.escalation import Escalation
from ghp_agents.escalations.labels import show
from ghp_agents.escalations.service import read_all
from ghp_agents.issues.issue import Issue, IssueChange
from tests.support.escalations import Place, ShakyTracker, make_place

LABEL = "agent:needs-human"
BOB = Actor("Bob", is_person=True)


@pytest.fixture
def here(repo: Path) -> Place:
    """Where worker-1 works; questions are for @ada and a team."""
    (repo / ".ghp").mkdir(exist_ok=True)
    settings = {"agents": {"escalateTo": ["ada", "acme/leads"]}}
    (repo / ".ghp/config.json").write_text(json.dumps(settings))
    return make_place(repo)


def questions(here: Place) -> list[Escalation]:
    return read_all(here.parts.world)[0]


def shown(here: Place) -> Issue:
    assert show(here.parts, questions(here), here.tracker.list(closed=True)) == []
    return here.tracker.get(1)


def test_an_issue_that_nobody_asked_about_is_left_alone(here: Place) -> None:
    here.ask()
    here.tracker.change(1, IssueChange(add_labels=(LABEL,)), BOB)
    before = here.tracker.get(1)
    assert shown(here) == before


def test_label_and_person_come_with_the_first_question_and_go_with_the_last(here: Place) -> None:
    first, second = here.ask(issue=1).escalation, here.ask("And?", issue=1).escalation
    issue = shown(here)
    assert (issue.labels, issue.assignees) == ((LABEL,), ("@ada",))
    here.by(None).reply(first.id)
    assert shown(here).labels == (LABEL,)
    here.by(None).reply(second.id)
    issue = shown(here)
    assert (issue.labels, issue.assignees) == ((), ())
    third = here.ask("Again?", issue=1).escalation
    assert shown(here).assignees == ("@ada",)
    here.by(None).reply(third.id)
    assert shown(here).assignees == ()


def test_who_takes_themselves_off_is_not_called_again(here: Place) -> None:
    here.ask(issue=1)
    shown(here)
    here.tracker.change(1, IssueChange(remove_assignees=("@ada",)), BOB)
    assert shown(here).assignees == ()


def test_who_was_assigned_by_others_stays(here: Place) -> None:
    here.tracker.change(1, IssueChange(add_assignees=("@ada", "Bob")), BOB)
    question = here.ask(issue=1).escalation
    assert shown(here).labels == (LABEL,)
    here.by(None).reply(question.id)
    assert shown(here).assignees == ("@ada", "Bob")


def test_a_closed_issue_waits_for_nobody(here: Place) -> None:
    here.ask(issue=1)
    shown(here)
    here.tracker.change(1, IssueChange(state="closed"), BOB)
    issue = shown(here)
    assert (issue.labels, issue.assignees) == ((), ())


def test_a_label_that_differs_in_case_alone_is_the_label(here: Place) -> None:
    here.tracker.change(1, IssueChange(add_labels=("Agent:Needs-Human",)), BOB)
    question = here.ask(issue=1).escalation
    assert shown(here).labels == ("Agent:Needs-Human",)
    here.by(None).reply(question.id)
    assert shown(here).labels == ()


class Refusing(ShakyTracker):
    """A tracker on which people cannot be assigned, or that is out of reach."""

    error: Exception = RefusedError("GitHub did not set the assignee ada.", hint="")

    def change(self, issue: str | int, change: IssueChange, by: Actor) -> Issue:
        if change.add_labels or change.add_assignees:
            super().change(issue, change._replace(add_assignees=()), by)
            raise self.error
        return super().change(issue, change, by)


def test_who_cannot_be_assigned_is_said_once_and_the_label_is_there(here: Place) -> None:
    here.tracker = Refusing(here.clock)
    here.ask(issue=1)
    question, issues = questions(here), here.tracker.list
    assert show(here.parts, question, issues()) == [
        "Cannot mark #1 as waiting for a person: GitHub did not set the assignee ada."
    ]
    assert show(here.parts, question, issues()) == []
    assert here.tracker.get(1).labels == (LABEL,)


def test_where_nobody_answers_it_is_shown_later(here: Place) -> None:
    here.tracker = Refusing(here.clock)
    here.tracker.error = UnknownError("Not now.", hint="")
    here.ask(issue=1)
    with pytest.raises(UnknownError):
        show(here.parts, questions(here), here.tracker.list())
