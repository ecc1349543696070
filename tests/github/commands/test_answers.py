"""Answers in comments: which questions they are of, and when it cannot be told yet."""

import pytest

from ghp_agents.core.errors import NotFoundError
from ghp_agents.core.ids import Actor
from ghp_agents.github.commands import parse
from ghp_agents.github.commands.answers import OpenQuestions
from ghp_agents.github.commands.inbox import HeardComment
from ghp_agents.github.commands.parse import Command
from tests.support.commands import Field
from tests.support.github import GitHub

pytestmark = pytest.mark.slow


@pytest.fixture
def field(github: GitHub) -> Field:
    return Field(github)


def asked(field: Field) -> str:
    field.github.issue("Blink")
    field.ghp("agent-claim 1", agent="worker-1")
    return field.ghp("agent-escalate Which? --issue 1", agent="worker-1").out.strip()


def heard(number: int, body: str, issue: int = 1, *, typed: bool = True) -> HeardComment:
    by = Actor("@ada", is_person=True)
    return HeardComment(number, issue, "ada", by, parse.read(body), is_typed=typed)


def questions(field: Field) -> OpenQuestions:
    house = field.house()
    assert house.hub
    return OpenQuestions(house, house.hub)


def test_only_words_on_an_issue_with_an_open_question_may_answer(field: Field) -> None:
    asked(field)
    mark = len(field.github.proxy.exchanges)
    pending = questions(field)
    bodies = ("Yes", "> a\n\nYes", "/agent status", "> a")
    assert [pending.may_be_answered(heard(9, body)) for body in bodies] == [
        True,
        True,
        False,
        False,
    ]
    assert not pending.may_be_answered(heard(9, "Yes", issue=2))
    assert pending.answers(heard(9, "> Which?\n\nYes")) != []
    assert field.github.proxy.since(mark) == []  # a quotation needs no request


def test_a_plain_comment_answers_the_one_question_that_was_there_before_it(field: Field) -> None:
    name = asked(field)
    pending, comment = questions(field), field.say(1, "SQLite")
    assert pending.answers(heard(comment, "SQLite")) == [Command("answer", name, "SQLite")]
    assert pending.answers(heard(comment, "SQLite", typed=False)) == []  # from a program


def test_what_github_does_not_list_yet_is_tried_again(field: Field) -> None:
    asked(field)
    with pytest.raises(NotFoundError, match="GitHub does not list the comment 10000000 yet"):
        questions(field).answers(heard(10_000_000, "SQLite"))


def test_a_plain_comment_beside_two_questions_answers_neither_when_one_is_closed_later(
    field: Field,
) -> None:
    first = asked(field)
    second = field.ghp("agent-escalate What? --issue 1", agent="worker-1").out.strip()
    comment = field.say(1, "SQLite")
    plain = heard(comment, "SQLite")._replace(at="2020-01-01T00:00:00Z")
    (asked_back,) = questions(field).answers(plain)
    assert isinstance(asked_back, parse.Mistake)
    field.ghp(f"agent-answer {second} Blue", agent="")
    pending = questions(field)  # of a clone that reads the comment only now
    (asked_back,) = pending.answers(plain)
    assert isinstance(asked_back, parse.Mistake)
    assert first in asked_back.why
    assert pending.answers(plain._replace(at="2999-01-01T00:00:00Z")) == [
        Command("answer", first, "SQLite")
    ]
