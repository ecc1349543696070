"""Recall: only what holds today, of an issue or a path if one is named."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import NotFoundError, UsageError
from ghp_agents.core.ids import Actor
from ghp_agents.issues.issue import IssueChange
from ghp_agents.notes import recall as recalling
from ghp_agents.notes.service import edit, forget
from tests.support.notes import Desk, make_desk, note

ADA = Actor("Ada", is_person=True)


@pytest.fixture
def here(repo: Path) -> Desk:
    """Where worker-1 works."""
    return make_desk(repo)


def test_what_is_replaced_expired_or_forgotten_does_not_come_back(here: Desk) -> None:
    old = here.tell("The port is 80").note
    here.tell("The port is 8080", supersedes=old.name)
    here.tell("The port was 79", expires="2025-06-15")
    wrong = here.tell("The port may be 81").note
    assert len(here.texts("port")) == 3
    forget(here.parts, wrong.name)
    here.ws.clock.wait(86_400)
    assert here.texts("port") == ["The port is 8080"]
    assert here.knowledge.index([]).removed == 1, "the index held only what is active"


def test_an_issue_or_a_path_narrows_what_is_searched(here: Desk) -> None:
    here.tracker.create(IssueChange(title="Parse"), ADA)
    here.tell("The port is 80", issue="1")
    here.tell("The port of src is 81", paths=("/src/", "!*.md"))
    assert here.texts("port", issue="1") == ["The port is 80"]
    assert here.texts("port", path="src/a.py") == ["The port of src is 81"]
    assert here.texts("port", path="src/a.md") == []
    assert here.ask("port", path="src/a.md").total == 0
    with pytest.raises(NotFoundError):
        here.ask("port", issue="9")


def test_the_limit_is_kept_and_the_best_come_first(here: Desk) -> None:
    for text in ("a port", "a blue port", "a blue door"):
        here.tell(text)
    result = here.ask("blue port", limit=2)
    assert result.notes[0].text == "a blue port"
    assert len(result.notes) == 2
    assert list(result.scores) == sorted(result.scores, reverse=True)
    assert result.total == 3


def test_an_empty_question_is_refused(here: Desk) -> None:
    with pytest.raises(UsageError):
        here.ask(" \n")


def test_where_the_knowledge_base_fails_words_are_compared_and_that_is_said(here: Desk) -> None:
    here.tell("Staging drops OPTIONS requests")
    here.knowledge.reachable = False
    result = here.ask("options request on staging")
    assert [note.text for note in result.notes] == ["Staging drops OPTIONS requests"]
    assert str(result.trouble) == "The knowledge base is away."


def test_a_pattern_that_is_none_concerns_no_path() -> None:
    assert not recalling.concerns(note("x", paths=("[",)), ["x"])
    assert not recalling.concerns(note("x"), ["x"])


def test_what_fits_is_of_the_issue_then_of_the_files_then_in_its_words(here: Desk) -> None:
    issue = here.tracker.create(
        IssueChange(title="Parse the barcode scanner's carriage returns", body="It posts."), ADA
    )
    here.tell("Nothing to do with it")
    words = here.tell("The barcode scanner sends a carriage return first").note
    place = here.tell("Generated, never edit", paths=("/src/gen.py",)).note
    own = here.tell("The parser is recursive", issue="1").note
    notes = recalling.fitting(here.parts, issue, issue.numbers, {"src/gen.py", "a"})
    assert notes == [own, place, words]


def test_a_note_that_was_changed_fits_as_before_and_once(here: Desk) -> None:
    issue = here.tracker.create(IssueChange(title="Parse"), ADA)
    first = here.tell("The parser is recursive", issue="1", paths=("/src/",)).note
    now = edit(here.parts, first.name, {"text": "The parser is a table"}).note
    assert recalling.fitting(here.parts, issue, issue.numbers, {"src/a.py"}) == [now]


def test_what_was_learnt_is_of_the_issue_or_of_the_agents_work_without_one(here: Desk) -> None:
    here.tracker.create(IssueChange(title="Parse"), ADA)
    of_issue = here.tell("One", issue="1").note
    mine = here.tell("Two").note
    here.by("worker-2").tell("Three")
    assert recalling.learnt(here.parts, "worker-1", (1,)) == [of_issue]
    assert recalling.learnt(here.parts, "worker-1", (None,)) == [mine]


def test_indexing_twice_changes_nothing_the_second_time(here: Desk) -> None:
    here.tell("One")
    assert recalling.reindex(here.parts, here.knowledge).added == 1
    assert recalling.reindex(here.parts, here.knowledge).nothing_new
