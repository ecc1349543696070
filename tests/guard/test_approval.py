"""Approval: shared files are leased with leave, and one answer is good for one lease."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.escalations.service import answer, read_all
from ghp_agents.leases.request import ApprovalError
from tests.support.consent import mine
from tests.support.context import make_context
from tests.support.leases import NOW, Yard, make_yard


@pytest.fixture
def yard(repo: Path) -> Yard:
    result = make_yard(repo)
    mine({"agents": {"shared": ["/README.md", "/src/gen/"], "orchestrators": ["boss"]}})
    return result


def ask(yard: Yard, *words: str, agent: str = "worker-1", **more: str) -> ApprovalError:
    """The refusal that an agent gets."""
    with pytest.raises(ApprovalError) as caught:
        yard.take(agent, *words, **more)
    return caught.value


def reply(yard: Yard, by: str | None, text: str) -> str:
    """Answer the last question; its name."""
    question = read_all(yard.parts(None).world)[0][-1]
    answer(make_context(yard.ws(by), yard.store, tracker=yard.tracker), question.id, text)
    return question.name


def questions(yard: Yard) -> list[tuple[str, str, bool]]:
    return [
        (x.question.agent, x.question.text, x.is_open) for x in read_all(yard.parts(None).world)[0]
    ]


def test_who_wants_shared_files_asks_a_person_and_is_told_how_it_goes_on(yard: Yard) -> None:
    error = ask(yard, "*.md", reason="new title")
    (question,) = read_all(yard.parts(None).world)[0]
    assert str(error) == (
        f"README.md is shared, so a lease needs approval. A person was asked: {question.name}."
    )
    assert error.hint == (
        f"Lease other files meanwhile. A person approves with: ghp agent-answer {question.name} "
        "approve"
    )
    assert question.question.text == ("May worker-1 lease *.md? Some of it is shared.\n\nnew title")
    assert question.question.options == ("approve", "refuse")
    assert question.context == "README.md"
    assert yard.held() == []


def test_asking_again_while_it_is_open_is_the_same_question(yard: Yard) -> None:
    first, again = ask(yard, "README.md"), ask(yard, "README.md")
    assert first.question == again.question
    assert len(questions(yard)) == 1


@pytest.mark.parametrize("by", [None, "boss"])
@pytest.mark.parametrize("text", ["approve", "1", "Approve "])
def test_with_leave_of_a_person_or_an_orchestrator_it_is_granted(
    yard: Yard, by: str | None, text: str
) -> None:
    ask(yard, "README.md")
    reply(yard, by, text)
    got = yard.take("worker-1", "README.md")
    assert (got.is_new, got.hold.approved) == (True, True)
    assert not yard.take("worker-1", "README.md").is_new


def test_another_agents_answer_gives_no_leave(yard: Yard) -> None:
    ask(yard, "README.md")
    reply(yard, "worker-2", "approve")
    assert "A person was asked: " in str(ask(yard, "README.md"))


def test_a_refusal_says_by_whom_and_stays(yard: Yard) -> None:
    ask(yard, "README.md")
    name = reply(yard, None, "refuse")
    for _ in range(2):
        error = ask(yard, "README.md")
        assert (
            str(error) == f"«Test Person» (a person) refused {name} at {NOW}: README.md is shared."
        )
        assert error.hint == "Lease other files, or ask again with another --reason."
    assert len(questions(yard)) == 1
    assert "A person was asked: " in str(ask(yard, "README.md", reason="to fix the link"))


def test_leave_is_good_for_one_lease(yard: Yard) -> None:
    ask(yard, "README.md")
    reply(yard, None, "approve")
    yard.take("worker-1", "README.md")
    yard.give("worker-1", "README.md")
    assert "A person was asked: " in str(ask(yard, "README.md"))
    assert [is_open for _, _, is_open in questions(yard)] == [False, True]


def test_leave_is_for_just_these_patterns_however_many(yard: Yard) -> None:
    many = [f"src/{number}.py" for number in range(30)]
    ask(yard, *many, "README.md", "docs/")
    reply(yard, None, "approve")
    ask(yard, *many, "README.md", "src/gen/")
    assert yard.take("worker-1", *many, "README.md", "docs/").hold.approved


def test_leave_for_one_is_not_leave_for_another(yard: Yard) -> None:
    ask(yard, "README.md")
    reply(yard, None, "approve")
    ask(yard, "README.md", agent="worker-2")


@pytest.mark.parametrize("who", [None, "boss"])
def test_people_and_orchestrators_ask_nobody(yard: Yard, who: str | None) -> None:
    assert yard.take(who, "README.md", "src/").hold.approved
    assert questions(yard) == []


def test_what_is_not_shared_and_what_is_taken_away_need_no_leave(yard: Yard) -> None:
    assert not yard.take("worker-1", "src/", "!/src/gen/").hold.approved
    assert yard.take("worker-1", name="readme.md").is_new
    assert questions(yard) == []


def test_a_shared_file_that_is_not_there_yet_needs_leave_too(yard: Yard) -> None:
    assert str(ask(yard, "src/gen/new.py")).startswith("src/gen/new.py is shared, so")


def test_who_waits_waits_for_the_answer_too(yard: Yard) -> None:
    yard.clock.at(5, lambda: reply(yard, None, "approve"))
    got, texts = yard.wait("worker-1", "README.md")
    assert got.hold.approved
    (question,) = read_all(yard.parts(None).world)[0]
    assert texts == [f"waiting for the answer to {question.name}"]
    assert yard.clock.passed == 5


def test_who_waits_and_is_refused_goes_on(yard: Yard) -> None:
    yard.clock.at(5, lambda: reply(yard, None, "refuse"))
    with pytest.raises(RefusedError, match="refused E-"):
        yard.wait("worker-1", "README.md")
    assert yard.clock.passed == 5


def test_codeowners_can_say_what_is_shared(yard: Yard) -> None:
    (yard.repo / "CODEOWNERS").write_text("/docs/ @core\n* @team\n/src/ @core\n")
    mine({"agents": {"sharedOwners": ["@core"]}})
    assert yard.take("worker-1", "docs/").is_new, "a later line gives it to others"
    assert str(ask(yard, "src/")).startswith("src/a.py, src/b.py, src/gen/x.py, ")
