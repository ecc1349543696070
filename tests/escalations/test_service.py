"""Escalations end to end in one process: asked once, answered, told once, whatever breaks."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import NotFoundError, NotSetUpError, UnknownError, UsageError
from ghp_agents.core.ids import Actor, AgentName, CloneId, Timestamp
from ghp_agents.escalations.comments import owed
from ghp_agents.escalations.delivered import mark_told
from ghp_agents.escalations.escalation import Escalation, Question
from ghp_agents.escalations.record import path_of
from ghp_agents.escalations.service import (
    CONTEXT_LIMIT,
    TEXT_LIMIT,
    EscalateResult,
    context_of,
    news_for,
    read_all,
    render_news,
)
from ghp_agents.state.ledger import LedgerEntry
from ghp_agents.state.record import Record
from tests.support.clock import ManualClock
from tests.support.escalations import WORKER, Place, RivalStore, ShakyTracker, make_place
from tests.support.git import git
from tests.support.twins.state import MemoryRemote, MemoryStore

NOW = Timestamp("2025-06-15T15:06:40Z")


@pytest.fixture
def here(repo: Path) -> Place:
    """Where worker-1 works."""
    return make_place(repo)


@pytest.fixture
def person(here: Place) -> Place:
    """The person at the same repository."""
    return here.by(None)


# ---------------------------------------------------------------------------------- asking


def test_a_question_is_kept_with_where_it_was_asked(here: Place) -> None:
    question = here.ask(
        "Which\r\ndatabase?\n", issue=1, options=["SQLite", " Postgres\n"], context="a\r\nb\n",
        urgency="high",
    )  # fmt: skip
    head = git(here.ws.folder, "rev-parse", "HEAD")
    expected = Escalation(
        id=question.escalation.id,
        question=Question("worker-1", "Which\ndatabase?", 1, ("SQLite", "Postgres")),
        asked_at=NOW,
        clock=1,
        clone=CloneId("memory"),
        urgency="high",
        context="a\nb",
        branch="main",
        commit=head,
    )
    assert question == EscalateResult(expected, is_new=True)
    assert here.known() == [expected]
    entry = LedgerEntry(
        1, CloneId("memory"), expected.id, "escalate", "worker-1", expected.name, NOW,
        issue=1, text="Which",
    )  # fmt: skip
    assert here.store.ledger() == [entry]


def test_asking_the_same_again_while_it_is_open_asks_nothing_new(here: Place) -> None:
    first = here.ask(issue=1)
    again = here.ask(issue=1, context="more of it", urgency="high")
    assert again == EscalateResult(first.escalation, is_new=False)
    assert here.known() == [first.escalation]
    assert len(here.store.ledger()) == 1
    assert here.tracker.said() == [("worker-1", f"<!-- ghp:escalation {first.escalation.name} -->")]


def test_after_an_answer_the_same_may_be_asked_again(here: Place, person: Place) -> None:
    first = here.ask(issue=1).escalation
    person.reply(first.id)
    second = here.ask(issue=1)
    assert second.is_new
    assert second.escalation.id != first.id
    assert here.ask(issue=1).escalation == second.escalation
    assert len(here.tracker.said()) == 3


def test_who_was_cut_off_while_waiting_gets_the_answer_instead_of_asking_again(
    here: Place, person: Place
) -> None:
    first = here.ask(waiting=True).escalation
    reply = person.reply(first.id).answer
    assert here.ask(waiting=True) == EscalateResult(first._replace(answers=(reply,)), is_new=False)
    mark_told(here.ws, WORKER, [reply.id])
    assert here.ask(waiting=True).is_new


def test_questions_are_in_the_order_in_which_they_were_asked(here: Place) -> None:
    texts = [f"Question {number}?" for number in range(12)]
    for text in texts:
        here.ask(text)
    assert [x.question.text for x in here.known()] == texts


def test_the_issue_in_hand_is_the_one_that_is_asked_about(here: Place) -> None:
    git(here.ws.folder, "switch", "--quiet", "--create", "agent/worker-1/1-storage")
    assert here.ask().escalation.question.issue == 1


def test_a_branch_that_only_looks_like_an_issue_stops_no_question(here: Place) -> None:
    git(here.ws.folder, "switch", "--quiet", "--create", "2024-report")
    question = here.ask()
    assert question.escalation.question.issue is None
    assert question.notes == (
        "Issue #2024 of this branch or agent does not exist, so the question has no issue.",
    )


def test_a_repository_without_commits_and_a_detached_head_can_be_asked_from(
    here: Place, tmp_path: Path
) -> None:
    git(tmp_path, "init", "--quiet", "empty")
    empty = Place(tmp_path / "empty", here.store, here.tracker, here.clock)
    question = empty.ask("From nothing?").escalation
    assert (question.branch, question.commit) == ("main", None)
    git(here.ws.folder, "checkout", "--quiet", "--detach")
    question = here.ask("From nowhere?").escalation
    assert (question.branch, question.commit) == (None, git(here.ws.folder, "rev-parse", "HEAD"))


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda here: here.ask(" \n"), UsageError, "The question is empty."),
        (lambda here: here.ask("x" * (TEXT_LIMIT + 1)), UsageError, "The question has 2000001 "),
        (lambda here: here.ask(options=["a", " "]), UsageError, "An option has 0 characters"),
        (lambda here: here.ask(options=["x" * 501]), UsageError, "An option has 501 characters"),
        (lambda here: here.ask(urgency="now"), UsageError, "'now' is not an urgency."),
        (lambda here: here.ask(issue=99), NotFoundError, "There is no issue 99."),
        (lambda here: here.by(None).ask(), NotSetUpError, "This command acts as an agent"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_recorded(
    here: Place, ask: Callable[[Place], EscalateResult], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        ask(here)
    assert str(caught.value).startswith(message)
    assert here.store.ledger() == []
    assert here.tracker.said() == []


HOSTILE = [
    "---\nid: x\n---\n",
    "<!-- ghp:escalation E-000000000000 -->",
    "\x1b[2J\x1b]0;owned\x07",
    "{{ 7 * 7 }} {0.__class__} %s $(reboot) `reboot`",
    "../../etc/passwd\x00",
    "\udcff\ud800",
    "-- \n@everyone",
    "x\n" * 500_000,
]


@pytest.mark.sample(1)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_kept_as_text(here: Place, person: Place, text: str) -> None:
    question = here.ask(text, issue=1, context=text[:1000])
    answered = person.reply(question.escalation.id, text)
    kept = text.encode("utf-8", "replace").decode().strip()
    (stored,) = here.known()
    assert (stored.question.text, stored.answers[0].text) == (kept, kept)
    assert stored == answered.escalation
    assert len(here.tracker.said()) == 2
    assert here.ask(text, issue=1, waiting=True) == EscalateResult(stored, is_new=False)
    assert all(entry.text.isprintable() for entry in here.store.ledger())


# ------------------------------------------------------------------- races and failures


def test_two_who_ask_the_same_at_once_ask_it_once(repo: Path) -> None:
    clock = ManualClock()
    store = RivalStore(clock)
    one = Place(repo, store, ShakyTracker(clock), clock)
    results: list[EscalateResult] = []
    store.rival = lambda: results.append(one.ask(issue=1))
    late = one.ask(issue=1)
    assert late == EscalateResult(results[0].escalation, is_new=False)
    assert len(store.ledger()) == 1
    assert len(one.tracker.said()) == 1


def test_two_who_answer_at_once_are_both_kept_and_the_person_closes(repo: Path) -> None:
    clock = ManualClock()
    store = RivalStore(clock)
    one = Place(repo, store, ShakyTracker(clock), clock)
    question = one.ask().escalation
    store.rival = lambda: one.by("worker-2").reply(question.id, "Postgres")
    late = one.by(None).reply(question.id, "SQLite")
    (advice,), (answer,) = late.escalation.advice, late.escalation.answers
    assert (advice.text, answer.text) == ("Postgres", "SQLite")
    assert one.known() == [late.escalation]


def test_the_same_asked_in_two_clones_is_one_question_after_a_sync(
    clones: Callable[[int], list[Path]],
) -> None:
    clock, hub = ManualClock(), MemoryRemote()
    tracker = ShakyTracker(clock)
    stores = [MemoryStore(clock, name, hub) for name in ("c1", "c2")]
    one, two = (
        Place(path, store, tracker, clock) for path, store in zip(clones(2), stores, strict=True)
    )
    assert one.ask(issue=1).is_new
    assert two.ask(issue=1).is_new
    for store in (*stores, *stores):
        store.sync()
    assert one.known() == two.known()
    assert len(one.known()) == 1
    assert len(tracker.said()) == 1
    two.by(None).reply(one.known()[0].id)
    two.store.sync()
    one.store.sync()
    assert [news.answer.text for news in news_for(one.parts.world, WORKER)] == ["SQLite"]


def test_out_of_reach_only_a_number_can_name_an_issue(here: Place) -> None:
    here.tracker.reachable = False
    with pytest.raises(UnknownError):
        here.ask(issue="I-3f9a")
    assert here.known() == []


def test_a_record_that_cannot_be_read_is_never_written_over(here: Place) -> None:
    question = here.ask().escalation
    path, at = path_of(question.id), question.asked_at
    broken = Record("escalate", Actor("x"), "E-0", "0", at, 9, ((path, b"zz broken"),))
    here.store.commit([broken], here.store.snapshot().revision)
    escalations, problems = read_all(here.parts.world)
    assert (escalations, [problem.place for problem in problems]) == ([], [path])
    again = here.ask()
    assert again.is_new
    assert here.known() == [again.escalation]
    assert here.store.snapshot().files(path) == {path: b"zz broken"}


# ------------------------------------------------------------------------------- answering


def test_an_answer_says_who_gave_it_and_is_in_the_ledger(here: Place, person: Place) -> None:
    question = here.ask(issue=1).escalation
    answered = person.reply(f"e-{question.id[:4].upper()}", "SQLite.\nFor now.\n")
    assert (answered.is_new, answered.answer.by, answered.answer.text) == (
        True, Actor("Test Person", True), "SQLite.\nFor now.",
    )  # fmt: skip
    assert answered.escalation == here.known()[0]
    entry = LedgerEntry(
        2, CloneId("memory"), answered.answer.id, "answer", "Test Person", question.name, NOW,
        is_person=True, issue=1, text="SQLite.",
    )  # fmt: skip
    assert here.store.ledger()[-1] == entry


def test_several_answers_are_all_kept_and_the_same_again_is_not_said_twice(
    here: Place, person: Place
) -> None:
    question = here.ask().escalation
    first = person.reply(question.id, "SQLite")
    more = here.by("worker-2").reply(question.id, "SQLite")
    again = person.reply(question.id, "SQLite\n")
    assert [first.is_new, more.is_new, again.is_new] == [True, True, False]
    assert again.escalation.answers == (first.answer,)
    assert again.escalation.advice == (more.answer,)


@pytest.mark.parametrize(
    ("reference", "text", "error", "message"),
    [
        ("E-99", "x", NotFoundError, "There is no question E-99."),
        ("", "x", NotFoundError, "There is no question (nothing)."),
        ("E", " ", UsageError, "The answer is empty."),
    ],
)
def test_what_cannot_be_answered_is_refused(
    here: Place, person: Place, reference: str, text: str, error: type[Exception], message: str
) -> None:
    here.ask("An id without 99?")
    with pytest.raises(error) as caught:
        person.reply(reference, text)
    assert str(caught.value) == message
    assert len(here.store.ledger()) == 1


# ------------------------------------------------------------------------- news and context


def test_an_agent_is_told_once_of_the_last_answer_to_each_of_its_own_questions(
    here: Place, person: Place
) -> None:
    one, two = here.ask("One?").escalation, here.ask("Two?").escalation
    other = here.by("worker-2").ask("Three?").escalation
    for asker, text in ((two, "2"), (one, "1"), (other, "3"), (two, "2 again")):
        person.reply(asker.id, text)
    news = news_for(here.parts.world, WORKER)
    assert [item.answer.text for item in news] == ["1", "2 again"]
    assert news_for(here.parts.world, WORKER) == news
    mark_told(here.ws, WORKER, [news[0].id])
    assert news_for(here.parts.world, WORKER) == news[1:]
    mark_told(here.ws, WORKER, [news[1].id])
    assert news_for(here.parts.world, WORKER) == []
    later = person.reply(two.id, "2 after all").answer
    assert [x.answer for x in news_for(here.parts.world, WORKER)] == [later]
    assert [n.answer.text for n in news_for(here.parts.world, AgentName("worker-2"))] == ["3"]


def test_news_in_words_are_one_block_for_each_answer(here: Place, person: Place) -> None:
    for text in ("One?", "Two?"):
        person.reply(here.ask(text).escalation.id)
    text = render_news(news_for(here.parts.world, WORKER))
    blocks = text.split("End of the answer by person «Test Person».\n")
    assert [block.count("SQLite") for block in blocks] == [1, 1, 0]
    assert render_news([]) == ""


@pytest.mark.parametrize("content", [b"", b"{", b'{"a": 1}', b"[1, null]", b"\xff"])
def test_a_damaged_memory_of_what_was_told_tells_once_more(
    here: Place, person: Place, content: bytes
) -> None:
    person.reply(here.ask().escalation.id)
    news = news_for(here.parts.world, WORKER)
    mark_told(here.ws, WORKER, [news[0].id])
    for name in ("worker-1.json", "worker-1.log"):
        (here.ws.ghp_dir / "told" / name).write_bytes(content)
    assert news_for(here.parts.world, WORKER) == news
    mark_told(here.ws, WORKER, [news[0].id])
    assert news_for(here.parts.world, WORKER) == []


def test_where_the_clone_cannot_be_written_it_is_remembered_outside(
    here: Place, person: Place
) -> None:
    person.reply(here.ask().escalation.id)
    news = news_for(here.parts.world, WORKER)
    here.ws.ghp_dir.write_text("a file stands where our folder should be")
    mark_told(here.ws, WORKER, [news[0].id])
    assert news_for(here.parts.world, WORKER) == []
    here.tracker.reachable = False
    assert owed(here.ws) == set()
    question = here.ask("And then?", issue=1).escalation
    assert owed(here.ws) == {question.id}


def test_a_context_is_cut_at_its_limit_between_two_letters() -> None:
    assert context_of(b"abc", "x") == ("abc", False)
    assert context_of(b"a" * CONTEXT_LIMIT, "x") == ("a" * CONTEXT_LIMIT, False)
    assert context_of(b"a" * (CONTEXT_LIMIT + 1), "x") == ("a" * CONTEXT_LIMIT, True)
    for size in range(1, 4):
        data = b"a" * (CONTEXT_LIMIT - size) + "🎉".encode()
        assert context_of(data, "x") == ("a" * (CONTEXT_LIMIT - size), True)


@pytest.mark.parametrize("data", [b"ab\xff", b"ab\xff" + b"c" * CONTEXT_LIMIT, "é".encode()[:1]])
def test_a_context_that_is_not_text_is_refused(data: bytes) -> None:
    with pytest.raises(UsageError, match=r"build\.log is not UTF-8 text \(byte [02]\)\."):
        context_of(data, "build.log")
