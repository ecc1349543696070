"""What was said here reaches the others, though nobody here says anything more."""

import itertools
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core import files
from ghp_agents.core.ids import AgentName
from ghp_agents.escalations.service import escalate
from ghp_agents.hotpath import background
from ghp_agents.hotpath.background import SPAWN_PAUSE
from ghp_agents.issues.issue import IssueChange
from ghp_agents.presence.service import heartbeat
from ghp_agents.state.git.fold import stamp
from ghp_agents.sync import push_now as delivery
from ghp_agents.wiring import App
from tests.support.clock import ManualClock
from tests.support.git import git


class Eventful(ManualClock):
    """A clock on which something happens during the first waits, one thing in each."""

    def __init__(self) -> None:
        super().__init__()
        self.begin = self.now()
        self.next: list[Callable[[], object]] = []

    @property
    def passed(self) -> float:
        """Seconds since the beginning."""
        return self.now() - self.begin

    def wait(self, seconds: float) -> None:
        super().wait(seconds)
        if self.next:
            self.next.pop(0)()


@pytest.fixture
def clock() -> Eventful:
    return Eventful()


@pytest.fixture
def here(clone: Path, clock: Eventful) -> App:
    """A clone that has just called the remote."""
    house = App(clone, os.environ, name="worker-1", clock=clock)
    house.tracker.create(IssueChange(title="The first"), house.ws.actor())
    house.store.sync()
    return house


def ask(house: App, text: str) -> None:
    escalate(house, text)


def new(house: App, text: str) -> None:
    """A comment: others should know of it soon, and nobody waits for it."""
    house.tracker.comment(1, text, house.ws.actor())


def deliver(house: App) -> None:
    """As the process in the background does that was started just now."""
    stamp(house.ws.cache_dir / "started", house.ws.clock.now())
    delivery.deliver(house)


def unsent(house: App) -> int:
    return house.store.sync_status().unsent


@pytest.mark.slow
def test_what_is_said_just_after_a_sync_goes_when_its_turn_comes(
    here: App, clock: Eventful
) -> None:
    new(here, "The last word")
    deliver(here)
    assert unsent(here) == 0
    assert clock.passed == 10


@pytest.mark.slow
def test_what_somebody_waits_for_goes_two_seconds_after_the_sync_before(
    here: App, clock: Eventful
) -> None:
    ask(here, "Now?")
    deliver(here)
    assert (unsent(here), clock.passed) == (0, 2)


@pytest.mark.slow
def test_who_stays_for_later_sends_at_once_what_somebody_waits_for(
    here: App, clock: Eventful
) -> None:
    new(here, "Later")

    def interrupt() -> None:
        ask(here, "Now?")
        background.ring(here.ws.folders, {}, clock.now(), {})

    clock.next = [interrupt]
    here.environ = {"GHP_SPAWNED": "1"}
    deliver(here)
    assert (unsent(here), clock.passed) == (0, 1 + SPAWN_PAUSE)


@pytest.mark.slow
def test_what_is_sent_in_the_foreground_keeps_the_same_distance(here: App, clock: Eventful) -> None:
    for _ in range(2):
        ask(here, f"At {clock.now()}?")
        report = delivery.send(here)
        assert (report.pushed, report.trouble) == (True, None)
    assert clock.passed == 4
    clock.wait(60)
    delivery.send(here)
    assert clock.passed == 64


def test_in_the_foreground_a_remote_out_of_reach_is_told_and_none_is_not_asked(
    here: App, clock: Eventful, remote: Path, repo: Path
) -> None:
    remote.rename(remote.with_name("moved.git"))
    ask(here, "Offline?")
    assert delivery.send(here).trouble
    assert unsent(here) == 1
    alone = App(repo, os.environ, name="worker-1", clock=clock)
    assert delivery.send(alone).remote is None


@pytest.mark.slow
def test_what_is_said_meanwhile_goes_too(here: App, clock: Eventful) -> None:
    clock.next = [lambda: ask(here, "While it stays?"), lambda: ask(here, "Before it leaves?")]
    ask(here, "The first word?")
    deliver(here)
    assert clock.next == []
    assert unsent(here) == 0


def test_where_nothing_is_left_it_looks_once_more_and_leaves(here: App, clock: Eventful) -> None:
    deliver(here)
    assert clock.passed == SPAWN_PAUSE


def test_without_a_remote_it_leaves_at_once(repo: Path, clock: Eventful) -> None:
    house = App(repo, os.environ, name="worker-1", clock=clock)
    ask(house, "Alone?")
    deliver(house)
    assert clock.passed == 0


@pytest.mark.slow
def test_a_record_is_sent_when_the_remote_can_be_reached_again(
    here: App, clock: Eventful, remote: Path
) -> None:
    away = remote.with_name("moved.git")
    remote.rename(away)
    clock.next = [*[lambda: None] * 100, lambda: away.rename(remote)]
    ask(here, "Offline?")
    deliver(here)
    assert unsent(here) == 0
    assert 101 < clock.passed < 101 + 130


@pytest.mark.slow
def test_a_record_for_a_remote_that_never_returns_is_tried_for_a_day_ever_less_often(
    here: App, clock: Eventful, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "LOOK_EVERY", 1_000.0)
    monkeypatch.setattr(delivery, "LONGEST_TRY", 3_000.0)
    remote.rename(remote.with_name("moved.git"))
    tried: list[float] = []

    def again() -> tuple[App, None]:
        tried.append(clock.passed)
        return here, None

    ask(here, "Offline?")
    delivery.deliver(here, again=again)
    pauses = [after - before for before, after in itertools.pairwise(tried)]
    assert pauses == sorted(pauses)
    assert (max(pauses), unsent(here)) == (delivery.LONGEST_PAUSE, 1)
    assert delivery.LONGEST_TRY <= clock.passed <= delivery.LONGEST_TRY + 300


@pytest.mark.slow
def test_presence_alone_is_not_stayed_for(here: App, clock: Eventful, remote: Path) -> None:
    remote.rename(remote.with_name("moved.git"))
    heartbeat(here.ws, here.store, AgentName("worker-1"), {"status": "testing"})
    deliver(here)
    assert clock.passed < 30


@pytest.mark.slow
def test_a_remote_that_refuses_is_not_stayed_for(here: App, clock: Eventful, remote: Path) -> None:
    hook = remote / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    ask(here, "Refused?")
    assert here.store.sync().permanent
    deliver(here)
    assert clock.passed == SPAWN_PAUSE


def test_one_process_of_a_clone_stays(
    here: App, clock: Eventful, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "TIMEOUT_S", 0.05)
    new(here, "Who sends it?")
    with files.locked(here.ws.ghp_dir / delivery.LOCK):
        deliver(here)
    assert (clock.passed, unsent(here)) == (0, 1)


@pytest.mark.slow
def test_a_command_sends_at_once_where_the_settings_allow_short_pauses(
    here: App, clock: Eventful
) -> None:
    new(here, "Now")
    here.ws.settings = here.ws.settings._replace(sync_every=0.5)
    delivery.send(here)
    assert (clock.passed, unsent(here)) == (0.5, 0)
    new(here, "And later")
    here.ws.settings = here.ws.settings._replace(sync_every=15.0)
    delivery.send(here)
    assert (clock.passed, unsent(here)) == (0.5 + SPAWN_PAUSE, 0)


@pytest.mark.slow
def test_an_exchange_that_is_under_way_is_waited_for(here: App, clock: Eventful) -> None:
    ask(here, "Too late for it?")
    clock.wait(60)
    busy = files.locked(here.ws.ghp_dir / "sync.lock")
    busy.__enter__()
    clock.next = [lambda: busy.__exit__(None, None, None)]
    deliver(here)
    assert unsent(here) == 0


def test_what_was_taken_away_meanwhile_is_not_made_again(here: App, clock: Eventful) -> None:
    ask(here, "Gone?")
    clock.next = [lambda: shutil.rmtree(here.ws.ghp_dir)]
    deliver(here)
    assert not here.ws.ghp_dir.exists()
    assert git(here.ws.folder, "status", "--porcelain") == ""


@pytest.mark.slow
def test_presence_that_may_only_go_much_later_goes_with_a_later_beat(
    here: App, clock: Eventful, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "LONGEST_STAY", 5.0)
    heartbeat(here.ws, here.store, AgentName("worker-1"), {"status": "testing"})
    deliver(here)
    assert (clock.passed, unsent(here)) == (SPAWN_PAUSE, 1)
