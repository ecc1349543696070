"""News for an agent: answers and a lost claim, within what clients take, and told once."""

from pathlib import Path

import pytest

from ghp_agents.core.ids import AgentName
from ghp_agents.escalations.delivered import is_told
from ghp_agents.hotpath import news_flag as bell
from ghp_agents.ports import LockService
from ghp_agents.presence import service as presence
from ghp_agents.sync import notifications as news
from ghp_agents.sync.notifications import Notifications, gather, mark
from tests.support.context import make_context
from tests.support.escalations import WORKER, Place, make_place
from tests.support.twins.locks import Board, MemoryLocks

TWO = AgentName("worker-2")


@pytest.fixture
def here(repo: Path) -> Place:
    """Where worker-1 works, registered."""
    place = make_place(repo)
    presence.register(place.ws, place.store, WORKER)
    return place


def leases(place: Place) -> MemoryLocks:
    return MemoryLocks(place.clock, Board())


def heard(place: Place, locks: LockService | None = None, **more: object) -> Notifications:
    return gather(make_context(place.ws, place.store, locks or leases(place)), WORKER, **more)  # type: ignore[arg-type]


def lose(place: Place, locks: MemoryLocks) -> None:
    """worker-1 claimed #1, and worker-2 has it now."""
    first = locks.acquire("issue/1", WORKER, expected=None, epoch=1)
    presence.heartbeat(place.ws, place.store, WORKER, {"issue": 1, "generation": first.generation})
    locks.acquire("issue/1", TWO, expected=first, epoch=1, reason="urgent")


def test_where_nothing_is_new_nothing_is_said(here: Place) -> None:
    here.ask()
    assert heard(here) == Notifications("", ())


def test_answers_come_in_their_order_and_once(here: Place) -> None:
    for number in (1, 2):
        question = here.ask(f"Question {number}?").escalation
        here.by("@me").reply(question.name, f"answer {number}")
    gathered = heard(here)
    assert [line for line in gathered.text.splitlines() if line.startswith("answer")] == [
        "answer 1", "answer 2",
    ]  # fmt: skip
    assert len(gathered.ids) == 2
    mark(here.ws, WORKER, gathered.ids)
    assert heard(here) == Notifications("", ())


def test_a_long_answer_is_cut_and_says_where_the_rest_is(here: Place) -> None:
    question = here.ask().escalation
    here.by("@me").reply(question.name, "x" * 100_000)
    text = heard(here).text
    assert len(text) < 5_000
    assert f"\n… (cut; all of it: `ghp agent-escalations {question.name}`)\n" in text


def test_a_question_that_is_too_long_itself_is_named(here: Place) -> None:
    question = here.ask(options=["o" * 490 + str(number) for number in range(30)]).escalation
    here.by("@me").reply(question.name, "1")
    assert heard(here).text == (
        f"{question.name} was answered: see `ghp agent-escalations {question.name}`."
    )


@pytest.mark.parametrize("letter", ["x", "😀"])
def test_what_has_no_room_stays_new(here: Place, letter: str) -> None:
    for number in range(5):
        question = here.ask(f"Question {number}?").escalation
        here.by("@me").reply(question.name, letter * 1_500)
    delivered = 0
    for _ in range(5):
        gathered = heard(here, limit=8_000)
        assert len(gathered.text.encode("utf-16-le")) // 2 <= 8_000
        mark(here.ws, WORKER, gathered.ids)
        delivered += len(gathered.ids)
        if delivered == 5:
            break
        assert gathered.text.endswith(f"\n{news.MORE}")
    assert delivered == 5
    assert heard(here).text == ""


def test_a_lost_claim_comes_first_and_once_unless_asked_again(here: Place) -> None:
    locks = leases(here)
    lose(here, locks)
    question = here.ask().escalation
    here.by("@me").reply(question.name)
    first, *_ = heard(here, locks).text.splitlines()
    assert first.startswith("Your claim of #1 was taken: worker-2 has held it since ")
    assert "`ghp agent-handoff --issue 1`" in first
    mark(here.ws, WORKER, heard(here, locks).ids)
    assert heard(here, locks) == Notifications("", ())
    assert heard(here, locks, again=True).text == first
    presence.heartbeat(here.ws, here.store, WORKER, {"issue": 2})
    assert heard(here, locks, again=True) == Notifications("", ())


def test_a_claim_that_is_lost_again_is_told_again(here: Place) -> None:
    locks = leases(here)
    lose(here, locks)
    mark(here.ws, WORKER, heard(here, locks).ids)
    (now,) = locks.list()
    mine = locks.acquire("issue/1", WORKER, expected=now, epoch=1)
    presence.heartbeat(here.ws, here.store, WORKER, {"issue": 1, "generation": mine.generation})
    locks.acquire("issue/1", TWO, expected=mine, epoch=1)
    assert "worker-2 has held it" in heard(here, locks).text


def test_nobody_elses_answer_is_news(here: Place) -> None:
    question = here.by("worker-2").ask().escalation
    here.by("@me").reply(question.name)
    assert heard(here).text == ""


def test_it_rings_for_agents_of_this_clone_that_have_news(here: Place, repo: Path) -> None:
    locks = leases(here)
    for name in ("worker-2", "worker-3"):
        presence.register(here.by(name).ws, here.store, AgentName(name))
    question = here.by("worker-2").ask().escalation
    here.by("@me").reply(question.name)
    lose(here, locks)
    folders = here.ws.folders
    bell.clear(folders, "worker-2")

    def ringing() -> list[str]:
        news.notify_agents(make_context(here.ws, here.store, locks), here.store.snapshot())
        names = [f"worker-{number}" for number in (1, 2, 3)]
        rung = [name for name in names if bell.is_set(folders, name)]
        for name in rung:
            bell.clear(folders, name)
        return rung

    assert ringing() == ["worker-1", "worker-2"]
    assert ringing() == ["worker-1", "worker-2"]  # until they were told
    for name in ("worker-1", "worker-2"):
        agent = AgentName(name)
        mark(here.ws, agent, gather(make_context(here.ws, here.store, locks), agent).ids)
    assert ringing() == []


def test_a_bell_rings_at_once_where_an_answer_is_given(here: Place) -> None:
    question = here.ask().escalation
    assert not bell.is_set(here.ws.folders, WORKER)
    here.by("@me").reply(question.name)
    assert bell.is_set(here.ws.folders, WORKER)


def test_it_does_not_ring_for_who_is_stopped(here: Place) -> None:
    question = here.ask().escalation
    here.by("@me").reply(question.name)
    presence.heartbeat(here.ws, here.store, WORKER, {"status": "stopped"})
    bell.clear(here.ws.folders, WORKER)
    news.notify_agents(make_context(here.ws, locks=leases(here)), here.store.snapshot())
    assert not bell.is_set(here.ws.folders, WORKER)


def test_what_was_told_is_remembered_by_name(here: Place) -> None:
    mark(here.ws, WORKER, ["issue/1/2"])
    assert is_told(here.ws, WORKER, "issue/1/2")
    assert not is_told(here.ws, WORKER, "issue/1/3")
    mark(here.ws, WORKER, [])
    assert is_told(here.ws, WORKER, "issue/1/2")
