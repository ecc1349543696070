"""Escalations as files: read back as they were asked, whatever the text, in whatever order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.clock import to_seconds
from ghp_agents.core.front_matter import Document
from ghp_agents.core.front_matter import render as render_document
from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.escalations.escalation import Answer, Escalation, Question
from ghp_agents.escalations.record import (
    answer_path_of,
    path_of,
    read,
    read_answers,
    render,
    render_answer,
    settled,
)
from ghp_agents.state.record import Problem

AT = Timestamp("2026-01-02T03:04:05Z")
ASKED = Escalation(
    "3f9a0c1d2e4b",
    Question("worker-1", "Which database?\n\nBoth would do.", 12, ("SQLite", "Postgres")),
    AT,
    7,
    CloneId("c1"),
    urgency="high",
    context="def open():\n    ```\n    pass",
    branch="agent/worker-1/12-db",
    commit="ab" * 20,
)
SAID = Answer("aa00", ASKED.id, Actor("Ada", True), "SQLite.\n", AT, 9, CloneId("c2"))

LINES = st.text(st.characters(exclude_categories=["Cs"]))  # half a character is none
HOSTILE = st.sampled_from(
    [
        "---",
        "---\nagent: root\n---\n",
        "Options:\n1. Yes",
        "Context:\n\n```\nx\n```",
        "<!-- ghp:escalation E-3f9a0c1d2e4b -->",
        "\x1b]0;owned\x07\x1b[2J",
        "questionLines: 9",
        "````",
        "\x00\x85\u2028\ufeff",
        "\n\n",
        " ",
    ]
)
TEXTS = st.lists(HOSTILE | LINES, min_size=1, max_size=4).map("\n".join)
ESCALATIONS = st.builds(
    Escalation,
    advice=st.just(()),
    id=st.text("0123456789abcdef", min_size=12, max_size=12),
    question=st.builds(
        Question,
        agent=st.sampled_from(["worker-1", "w.2_x"]),
        text=TEXTS,
        issue=st.none() | st.integers(1, 2**53),
        options=st.lists(TEXTS, max_size=3).map(tuple),
    ),
    asked_at=st.just(AT),
    clock=st.integers(1, 2**60),
    clone=st.sampled_from([CloneId("c1"), CloneId("c2")]),
    urgency=st.sampled_from(["low", "normal", "high"]),
    context=st.just("") | TEXTS.filter(bool),
    branch=st.none() | st.just("main") | LINES.filter(bool),
    commit=st.none() | st.just("ab" * 20),
    answers=st.just(()),
    outcomes=st.just(()),
    settled=st.just(""),
)


def files_of(*escalations: Escalation) -> dict[str, bytes]:
    files = {path_of(x.id): render(x) for x in escalations}
    answers = [answer for x in escalations for answer in x.answers]
    return files | {answer_path_of(a.escalation, a.id): render_answer(a) for a in answers}


def test_an_escalation_is_a_file_that_people_can_read() -> None:
    assert render(ASKED).decode() == (
        """\
---
schemaVersion: 1
id: "E-3f9a0c1d2e4b"
agent: "worker-1"
issue: 12
urgency: "high"
options: ["SQLite", "Postgres"]
kind: "question"
askedAt: "2026-01-02T03:04:05Z"
clock: 7
clone: "c1"
branch: "agent/worker-1/12-db"
commit: "abababababababababababababababababababab"
questionLines: 3
contextLines: 3
---

Which database?

Both would do.

Options:
1. SQLite
2. Postgres

Context:

````
def open():
    ```
    pass
````
"""
    )


def test_an_answer_is_a_file_that_people_can_read() -> None:
    assert render_answer(SAID._replace(text="SQLite.")).decode() == (
        """\
---
schemaVersion: 1
escalation: "E-3f9a0c1d2e4b"
by: "Ada"
person: true
at: "2026-01-02T03:04:05Z"
clock: 9
clone: "c2"
---

SQLite.
"""
    )


@pytest.mark.slow
@given(ESCALATIONS)
def test_a_question_is_read_back_as_it_was_asked_and_never_as_structure(
    escalation: Escalation,
) -> None:
    assert read(files_of(escalation)) == ([escalation], [])


@given(TEXTS, st.sampled_from([Actor("Ada \x1b[1m\n---", True), Actor("worker-2")]))
def test_an_answer_is_read_back_as_it_was_given(text: str, by: Actor) -> None:
    answers = (SAID._replace(text=text, by=by),)
    answered = ASKED._replace(answers=answers)
    kept = answered if by.is_person else ASKED._replace(advice=answers)
    assert read(files_of(answered)) == ([kept], [])
    assert read(files_of(answered), [by.name]) == ([answered], [])
    assert tuple(read_answers(files_of(answered))) == answers


@given(st.data())
def test_any_order_of_the_records_gives_the_same_list(data: st.DataObject) -> None:
    clocks = data.draw(st.lists(st.integers(8, 10), min_size=4, max_size=4))
    answers = tuple(
        SAID._replace(id=f"{index:04x}", clock=clock, clone=CloneId(f"c{index % 2}"))
        for index, clock in enumerate(clocks)
    )
    one = ASKED._replace(answers=answers)
    two = ASKED._replace(id="0000", clock=data.draw(st.integers(6, 8)))
    records = list(files_of(one, two).items())
    (first, second), problems = read(dict(data.draw(st.permutations(records))))
    assert ([first, second], problems) == read(dict(records))
    assert {first.id, second.id} == {one.id, two.id}
    assert (first.clock, first.clone, first.id) < (second.clock, second.clone, second.id)
    closing = [(a.clock, a.clone, a.id) for a in first.answers or second.answers]
    assert closing == sorted(closing)
    assert len(closing) == 4


def test_one_megabyte_of_question_is_kept() -> None:
    text = ("---\n```\n" * 150_000)[:1_000_000].strip()
    escalation = ASKED._replace(question=ASKED.question._replace(text=text))
    assert read(files_of(escalation)) == ([escalation], [])


def test_a_record_that_cannot_be_read_is_reported_and_hides_no_other() -> None:
    def document(body: str = "Why?", **meta: object) -> bytes:
        return render_document(Document(meta, body))

    broken = {
        ".ghp/escalations/0001.md": b"\xff\xfe",
        ".ghp/escalations/0002.md": b"no front matter",
        ".ghp/escalations/0003.md": document(agent="../../etc"),
        ".ghp/escalations/0004.md": document(agent=["worker-1"]),
        ".ghp/escalations/0005.md": document(issue=1),
        ".ghp/answers/3f9a0c1d2e4b/0006.md": document(person=True),
        ".ghp/answers/3f9a0c1d2e4b/0007.md": document(by="Not An Agent", person="true"),
    }
    escalations, problems = read(broken | files_of(ASKED))
    assert escalations == [ASKED]
    assert [(p.place, p.reason) for p in problems] == [
        (".ghp/escalations/0001.md", "not UTF-8 text (byte 0)"),
        (".ghp/escalations/0002.md", "no front matter: the first line is not `---`"),
        (".ghp/escalations/0003.md", "'../../etc' is not a valid agent name."),
        (".ghp/escalations/0004.md", "'' is not a valid agent name."),
        (".ghp/escalations/0005.md", "'' is not a valid agent name."),
        (".ghp/answers/3f9a0c1d2e4b/0006.md", "it does not say who wrote it"),
        (".ghp/answers/3f9a0c1d2e4b/0007.md", "'Not An Agent' is not a valid agent name."),
    ]
    assert isinstance(problems[0], Problem)


def test_fields_of_a_wrong_kind_are_as_if_they_were_not_there() -> None:
    meta = {
        "agent": "worker-1", "issue": "12", "urgency": "panic", "options": ["a", 1, ["b"]],
        "askedAt": 5, "clock": -3, "clone": None, "questionLines": 99, "contextLines": 99,
        "fromTheFuture": {"x": 1},
    }  # fmt: skip
    data = render_document(Document(meta, "Why?\nReally?"))
    escalation = Escalation(
        "0001",
        Question("worker-1", "Why?\nReally?", None, ("a",)),
        Timestamp(""),
        0,
        CloneId(""),
    )
    assert read({".ghp/escalations/0001.md": data}) == ([escalation], [])


def test_a_question_written_by_hand_is_read() -> None:
    data = b"---\nagent: worker-1\naskedAt: 2026-01-02T03:04:05Z\n---\n\nWhich\none?\n"
    (escalation,), problems = read({".ghp/escalations/0001.md": data})
    assert problems == []
    assert (escalation.question.text, escalation.asked_at) == (
        "Which\none?",
        "2026-01-02T03:04:05+00:00",
    )


@pytest.mark.parametrize(
    "path",
    [
        ".ghp/escalations/README.md",
        ".ghp/escalations/0001.json",
        ".ghp/escalations/x/0001.md",
        ".ghp/answers/0001.md",
        ".ghp/answers/0001/by-mail/0002.md",
    ],
)
def test_files_of_kinds_that_a_newer_version_has_are_left_alone(path: str) -> None:
    assert read({path: b"anything"}) == ([], [])


def test_an_answer_whose_question_is_not_here_yet_waits_for_it() -> None:
    answered = ASKED._replace(answers=(SAID,))
    records = files_of(answered)
    assert read({p: d for p, d in records.items() if "/answers/" in p}) == ([], [])
    assert read(records) == ([answered], [])


def test_a_question_is_settled_when_a_person_answered_it_long_ago() -> None:
    question, answer = path_of(ASKED.id), answer_path_of(ASKED.id, SAID.id)
    files = {question: render(ASKED), answer: render_answer(SAID)}
    late = to_seconds(AT) + 1
    ((ended, parts),) = settled(files, late)
    assert [ended.id, *parts.paths, *parts.last] == [ASKED.id, question, answer]
    assert settled(files, to_seconds(AT)) == settled({question: files[question]}, late) == []
    advice = render_answer(SAID._replace(by=Actor("lead")))
    assert settled({**files, answer: advice}, late) == []
    assert settled({**files, answer_path_of(ASKED.id, "bb00"): b"?"}, late) == []
