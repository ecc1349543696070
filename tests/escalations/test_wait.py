"""Waiting for an answer: it arrives soon, costs little, and shows in the agent's presence."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.core.clock import to_seconds
from ghp_agents.escalations.escalation import Answer
from ghp_agents.escalations.service import answer, escalate
from ghp_agents.escalations.wait import wait
from ghp_agents.hotpath import heartbeat as pulse
from ghp_agents.presence.wait import LOOK_EVERY
from ghp_agents.state.cause import CHOICE
from ghp_agents.state.join import SyncReport
from ghp_agents.workspace import open_workspace
from tests.support.context import make_context
from tests.support.script import Script
from tests.support.twins.issues import MemoryTracker
from tests.support.twins.state import MemoryRemote, MemorySnapshot, MemoryStore

TEXT = "Which database?\nBoth would do."
WAITING = ("waiting", "Waiting for an answer: Which database? Both would do.")


class CountingStore(MemoryStore):
    """Remembers when it was asked to sync; a sync takes `took` seconds. Things can happen just
    before a look."""

    def __init__(self, clock: Script, name: str, hub: MemoryRemote | None) -> None:
        super().__init__(clock, name, hub)
        self.script = clock
        self.syncs: list[float] = []
        self.took = 0.0
        self.sends_from = 0.0  # before that it is too soon to send anything
        self.before_looks: list[Callable[[], None]] = []

    def snapshot(self, at: float | None = None) -> MemorySnapshot:
        if self.before_looks:
            self.before_looks.pop(0)()
        return super().snapshot(at)

    def sync(self, *, push: bool = True, paced: bool = False, fetch: bool = True) -> SyncReport:
        self.syncs.append(self.script.passed)
        if paced and self.script.passed < self.sends_from:
            return SyncReport(remote="hub")
        self.script.wait(self.took)
        return super().sync(push=push, paced=paced, fetch=fetch)


class Desk:
    """worker-1 with a question, and a person who can answer here or in another clone."""

    def __init__(self, repo: Path, hub: MemoryRemote | None = None) -> None:
        self.clock = Script()
        self.hub = hub or MemoryRemote()
        self.store = CountingStore(self.clock, "here", hub)
        self.elsewhere = MemoryStore(self.clock, "there", hub)
        self.tracker = MemoryTracker(self.clock)
        self.ws = open_workspace(repo, os.environ, self.clock, "worker-1")
        self.person = open_workspace(repo, os.environ, self.clock)
        self.parts = make_context(self.ws, self.store, tracker=self.tracker)

    def wait(self, timeout: float | None = None) -> Answer | None:
        question = escalate(self.parts, TEXT).escalation
        return wait(self.parts, question, timeout=timeout)

    def answer_here(self) -> None:
        answer(
            make_context(self.person, self.store, tracker=self.tracker),
            self._id(self.store),
            "SQLite",
        )

    def answer_elsewhere(self) -> None:
        self.elsewhere.sync()
        answer(
            make_context(self.person, self.elsewhere, tracker=self.tracker),
            self._id(self.elsewhere),
            "SQLite",
        )
        self.elsewhere.sync()

    def beat(self, **fields: object) -> None:
        pulse.beat(self.ws.folders, "worker-1", fields, self.clock.now(), epoch=1)

    def presence(self) -> tuple[Any, Any]:
        now = self.ws.presence("worker-1") or {}
        return now.get("status"), now.get("lastAction")

    def _id(self, store: MemoryStore) -> str:
        (path,) = store.snapshot().files(".ghp/escalations/")
        return path.rpartition("/")[2].removesuffix(".md")


@pytest.fixture
def desk(repo: Path) -> Desk:
    return Desk(repo)


@pytest.fixture
def team(repo: Path) -> Desk:
    return Desk(repo, MemoryRemote())


def text_of(reply: Answer | None) -> str | None:
    return reply.text if reply else None


# ----------------------------------------------------------------------------- when it ends


def test_an_answer_that_is_there_already_is_returned_at_once_and_without_a_sync(team: Desk) -> None:
    question = escalate(team.parts, TEXT).escalation
    team.answer_here()
    assert text_of(wait(team.parts, question)) == "SQLite"
    assert (team.clock.passed, team.store.syncs) == (0, [])


def test_an_answer_in_this_clone_arrives_within_a_second(desk: Desk) -> None:
    desk.clock.at(42.3, desk.answer_here)
    assert text_of(desk.wait()) == "SQLite"
    assert 42.3 <= desk.clock.passed <= 42.3 + LOOK_EVERY
    assert desk.store.syncs == []


def test_an_answer_that_decides_nothing_does_not_end_the_wait(desk: Desk) -> None:
    desk.clock.at(5, desk.answer_here)
    question = escalate(desk.parts, TEXT, options=("SQLite", "Postgres")).escalation
    strict = question._replace(question=question.question._replace(kind=CHOICE, options=("a", "b")))
    assert wait(desk.parts, strict, timeout=10) is None
    assert text_of(wait(desk.parts, question, timeout=10)) == "SQLite"


def test_an_answer_in_another_clone_arrives_with_the_next_sync(team: Desk) -> None:
    team.clock.at(100, team.answer_elsewhere)
    assert text_of(team.wait()) == "SQLite"
    assert team.store.syncs[0] == 0
    assert 100 <= team.clock.passed <= 116
    assert len(team.store.syncs) <= 1 + team.clock.passed / 15


def test_it_stops_waiting_after_its_time_and_never_before(desk: Desk) -> None:
    assert desk.wait(timeout=7.5) is None
    assert desk.clock.passed == 7.5


def test_a_time_of_nothing_looks_once(team: Desk) -> None:
    assert team.wait(timeout=0) is None
    assert (team.clock.passed, team.store.syncs) == (0, [0])


def test_of_several_answers_the_last_one_counts(desk: Desk) -> None:
    question = escalate(desk.parts, TEXT).escalation
    answer(make_context(desk.person, desk.store, tracker=desk.tracker), question.id, "SQLite")
    last = answer(
        make_context(desk.person, desk.store, tracker=desk.tracker), question.id, "No, Postgres"
    ).answer
    assert wait(desk.parts, question) == last


# --------------------------------------------------------------------------- what it costs


def test_those_who_wait_in_one_clone_share_their_syncs(team: Desk) -> None:
    for seconds in range(5, 100, 5):
        team.clock.at(seconds, lambda: MemoryStore.sync(team.store))
    assert team.wait(timeout=98) is None
    assert team.store.syncs == [0]


def test_a_question_that_was_not_sent_yet_is_sent_though_there_was_a_sync_just_now(
    team: Desk,
) -> None:
    MemoryStore.sync(team.store)
    assert team.wait(timeout=5) is None
    assert team.store.syncs == [0]


def test_where_it_is_too_soon_to_send_the_answer_is_still_fetched(team: Desk) -> None:
    team.store.sends_from = 40
    team.clock.at(50, team.answer_elsewhere)
    snapshots: list[bool] = []
    team.clock.at(39, lambda: snapshots.append("here" in team.hub.histories))
    assert text_of(team.wait()) == "SQLite"
    assert snapshots == [False]
    assert team.store.syncs == [0, 0, 15, 15, 30, 30, 45, 60]


def test_a_slow_remote_is_asked_less_so_that_answers_here_are_seen(team: Desk) -> None:
    team.store.took = 30
    team.clock.at(100, team.answer_here)
    assert text_of(team.wait()) == "SQLite"
    assert team.store.syncs == [0]
    assert 100 <= team.clock.passed <= 101


def test_an_unreachable_remote_stops_nobody_from_waiting(repo: Path) -> None:
    hub = MemoryRemote(reachable=False)
    desk = Desk(repo, hub)
    desk.clock.at(20, lambda: setattr(hub, "reachable", True))
    desk.clock.at(40, desk.answer_elsewhere)
    assert text_of(desk.wait()) == "SQLite"
    assert desk.store.syncs[:3] == [0, 15, 30]


# ------------------------------------------------------------------------ what others see


def test_while_it_waits_the_agent_says_so_and_afterwards_it_is_what_it_was(desk: Desk) -> None:
    desk.beat(status="implementing", lastAction="Wrote the model", issue=12)
    states: list[tuple[Any, Any]] = []
    desk.clock.at(3, lambda: states.append(desk.presence()))
    desk.clock.at(4, desk.answer_here)
    desk.wait()
    assert states == [WAITING]
    assert desk.presence() == ("implementing", "Wrote the model")
    assert (desk.ws.presence("worker-1") or {})["issue"] == 12


@pytest.mark.slow
def test_a_long_wait_does_not_look_like_death(desk: Desk) -> None:
    desk.beat(status="implementing")
    ages: list[float] = []

    def look() -> None:
        now = desk.ws.presence("worker-1") or {}
        ages.append(desk.clock.now() - to_seconds(now["timestamp"]))

    for seconds in range(60, 1800, 61):
        desk.clock.at(seconds, look)
    assert desk.wait(timeout=1800) is None
    assert len(ages) == 29
    assert max(ages) <= desk.ws.settings.throttle + LOOK_EVERY
    assert desk.presence()[0] == "implementing"


def test_interrupted_it_is_what_it_was(desk: Desk) -> None:
    desk.beat(status="testing", lastAction="Ran the tests")

    def interrupt() -> None:
        raise KeyboardInterrupt

    desk.clock.at(2, interrupt)
    with pytest.raises(KeyboardInterrupt):
        desk.wait()
    assert desk.presence() == ("testing", "Ran the tests")


def test_what_the_agent_said_itself_meanwhile_stays(desk: Desk) -> None:
    desk.beat(status="implementing")

    def answer_and_stop() -> None:
        desk.answer_here()
        desk.beat(status="done")

    question = escalate(desk.parts, TEXT).escalation
    desk.store.before_looks = [lambda: None, lambda: None, answer_and_stop]
    assert text_of(wait(desk.parts, question)) == "SQLite"
    assert desk.presence()[0] == "done"


def test_an_agent_without_presence_gets_none(desk: Desk) -> None:
    desk.clock.at(2, desk.answer_here)
    desk.wait()
    assert desk.ws.presence("worker-1") is None
