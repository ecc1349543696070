"""The rules of escalations: which question is the same, how one is named, what comes first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.errors import NotFoundError, UsageError
from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.escalations.escalation import (
    CLOSE_IT,
    CONTINUE,
    MYSELF,
    Answer,
    Escalation,
    Question,
    answer_identity,
    by_need,
    chosen,
    find,
    identity,
    left_to_people,
    listed,
    ordered,
    short_names,
    with_answers,
)
from ghp_agents.state.cause import (
    CHOICE,
    CIRCLE,
    LAST_RESORT,
    OVERLAP,
    SHARED_FILES,
    WANTED_FILE,
    WORKFLOW,
)

AT = Timestamp("2026-01-02T03:04:05Z")
QUESTION = Question("worker-1", "Which database?", 12, ("SQLite", "Postgres"))
ASKED = Escalation("3f9a0c1d2e4b", QUESTION, AT, 7, CloneId("c1"))
ADA = Actor("Ada", is_person=True)
IDS = st.text("0123456789abcdef", min_size=12, max_size=12)


def named(identifier: str, text: str = "Which?") -> Escalation:
    return ASKED._replace(id=identifier, question=QUESTION._replace(text=text))


def test_the_id_of_a_question_is_the_same_on_every_machine_and_for_ever() -> None:
    assert identity(QUESTION, 0) == "bd40dec0e48b"


def test_another_question_has_another_id() -> None:
    others = [
        QUESTION._replace(agent="worker-2"),
        QUESTION._replace(text="Which data base?"),
        QUESTION._replace(issue=None),
        QUESTION._replace(options=("Postgres", "SQLite")),
        QUESTION._replace(text="Which", options=("database?", "SQLite", "Postgres")),
    ]
    ids = {identity(x, 0) for x in [QUESTION, *others]} | {identity(QUESTION, 1)}
    assert len(ids) == 7


def test_an_answer_is_the_same_only_from_the_same_author() -> None:
    ids = {
        answer_identity("3f9a", ADA, "SQLite"),
        answer_identity("3f9b", ADA, "SQLite"),
        answer_identity("3f9a", Actor("Ada"), "SQLite"),
        answer_identity("3f9a", ADA, "sqlite"),
    }
    assert len(ids) == 4
    assert answer_identity("3f9a", ADA, "SQLite") in ids


def test_the_first_answer_closes_and_later_ones_are_kept_in_their_order() -> None:
    def said(clock: int, clone: str) -> Answer:
        return Answer(f"{clock}{clone}", ASKED.id, ADA, "x", AT, clock, CloneId(clone))

    first, second, third = said(8, "c1"), said(8, "c2"), said(9, "c1")
    assert ASKED.is_open
    whole = with_answers(with_answers(with_answers(ASKED, [third], ()), [second], ()), [first], ())
    assert whole.answers == (first, second, third)
    assert not whole.is_open


@pytest.mark.parametrize(
    "text", ["3f9a", "3F9A", "E-3f9a", "e-3F9A", " E-3f9a0c1d2e4b ", "3", "e3F9A"]
)
def test_a_question_goes_by_the_start_of_its_id(text: str) -> None:
    assert find([ASKED, named("771100aabbcc")], text) == ASKED


def test_a_start_that_fits_several_lists_them() -> None:
    with pytest.raises(UsageError) as caught:
        find([named("3f9a00000000", "One?"), named("3f9b00000000", "Two?\x1b[2J")], "3f9")
    assert str(caught.value) == "'3f9' matches 2 questions."
    assert caught.value.hint == (
        "Use more characters of the id: E-3f9a00000000 (One?), E-3f9b00000000 (Two? [2J)."
    )


def test_a_whole_id_is_meant_even_where_a_longer_one_begins_with_it() -> None:
    assert find([named("3f9a"), named("3f9a00000000")], "E-3f9a").id == "3f9a"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("E-99", "E-99"),
        ("", "(nothing)"),
        ("E-", "E-"),
        ("x\x1b\ny" * 40, "x y" + "x y" * 11 + "x y…"),
    ],
)
def test_an_unknown_question_says_what_next(text: str, message: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        find([ASKED], text)
    assert str(caught.value).startswith(f"There is no question {message[:20]}")
    assert "ghp agent-escalations" in caught.value.hint


@pytest.mark.slow
@given(st.sets(IDS, max_size=30))
def test_short_names_are_unique_and_name_the_same_question(ids: set[str]) -> None:
    escalations = [named(x) for x in ids]
    names = short_names(escalations)
    assert set(names) == ids
    assert all(len(name) >= 6 for name in names.values())
    for identifier, name in names.items():
        assert find(escalations, name).id == identifier


def test_short_names_are_no_longer_than_they_must_be() -> None:
    escalations = [named("3f9a00000000"), named("3f9a01000000"), named("771100000000")]
    assert list(short_names(escalations).values()) == ["E-3f9a00", "E-3f9a01", "E-7711"]


@given(st.permutations(range(5)))
def test_any_order_of_questions_is_put_into_the_same_one(order: list[int]) -> None:
    places = [(1, "b", "1"), (2, "a", "1"), (2, "b", "0"), (2, "b", "1"), (10, "a", "0")]
    escalations = [ASKED._replace(clock=k, clone=CloneId(c), id=i) for k, c, i in places]
    assert ordered(escalations[index] for index in order) == tuple(escalations)


def test_what_waits_and_is_urgent_comes_first() -> None:
    answered = with_answers(
        ASKED._replace(id="0", urgency="high", clock=1),
        [Answer("a", "0", ADA, "x", AT, 2, CloneId("c1"))],
        (),
    )
    low, old = ASKED._replace(id="1", urgency="low", clock=2), ASKED._replace(id="2", clock=3)
    new, high = ASKED._replace(id="3", clock=4), ASKED._replace(id="4", urgency="high", clock=5)
    escalations = [answered, low, old, new, high]
    assert [x.id for x in by_need(escalations)] == ["4", "2", "3", "1", "0"]


def test_options_are_numbered_and_each_keeps_to_its_line() -> None:
    assert listed(["SQLite", "2. Postgres\n3. Oracle"]) == "1. SQLite\n2. 2. Postgres 3. Oracle"


OWN = (LAST_RESORT, OVERLAP, CIRCLE, SHARED_FILES, WANTED_FILE, WORKFLOW, CHOICE)


def answered(question: Question, *texts: str) -> Escalation:
    asked = ASKED._replace(question=question)
    replies = [
        Answer(f"{n:012x}", asked.id, ADA, text, AT, 8 + n, CloneId("c1"))
        for n, text in enumerate(texts)
    ]
    return with_answers(asked, replies, ())


@pytest.mark.parametrize("kind", OWN)
@given(st.text(max_size=40))
def test_a_question_of_the_program_is_closed_only_by_one_of_its_options(
    kind: str, text: str
) -> None:
    question = QUESTION._replace(options=("yes", "no"), kind=kind)
    picks = text.strip().rstrip(".!").casefold() in ("yes", "no", "approve", "refuse")
    after = answered(question, text)
    assert after.is_open is not picks
    assert [*after.answers, *after.advice] != []
    assert not answered(question._replace(options=()), text).is_open
    assert not answered(QUESTION, text).is_open  # of an agent, which reads it


def test_an_orchestrator_does_not_decide_what_it_asked_itself() -> None:
    own, lead = Actor(QUESTION.agent), Actor("lead")
    replies = [
        Answer(f"{n:012x}", ASKED.id, by, "SQLite", AT, 8 + n, CloneId("c1"))
        for n, by in enumerate((own, lead))
    ]
    after = with_answers(ASKED, replies, (own.name, lead.name))
    assert ([x.by for x in after.answers], [x.by for x in after.advice]) == ([lead], [own])


def test_an_unclear_answer_leaves_the_earlier_one_in_force() -> None:
    question = QUESTION._replace(options=CONTINUE, kind=LAST_RESORT)
    after = answered(question, CONTINUE[1], "or maybe not")
    assert [x.text for x in after.answers] == [CONTINUE[1]]
    assert left_to_people([after]) == {12: "E-3f9a0c1d2e4b"}


@pytest.mark.parametrize(
    ("kind", "options", "text", "is_left"),
    [
        (LAST_RESORT, CONTINUE, "Try again", False),
        (LAST_RESORT, CONTINUE, "leave it to a person", True),
        (LAST_RESORT, CONTINUE, "close it", True),
        (LAST_RESORT, CONTINUE[:2], "close it", False),  # of an older version: it is still open
        (CHOICE, ("a tries again", MYSELF), MYSELF, True),
        (CHOICE, ("a tries again", MYSELF), "a tries again", False),
        ("question", ("a", "b"), "a", False),
    ],
)
def test_who_leaves_an_issue_to_people_ends_its_runs(
    kind: str, options: tuple[str, ...], text: str, is_left: bool
) -> None:
    after = answered(QUESTION._replace(options=options, kind=kind), text)
    assert bool(left_to_people([after])) is is_left


@pytest.mark.parametrize(("text", "option"), [("3", CLOSE_IT), ("Close.", CLOSE_IT), ("x", "x")])
def test_an_answer_is_kept_in_the_words_of_its_option(text: str, option: str) -> None:
    assert chosen(QUESTION._replace(options=CONTINUE, kind=LAST_RESORT), text) == option
