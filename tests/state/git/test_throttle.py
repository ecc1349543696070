"""How often a clone calls the remote by itself."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.clock import to_text
from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.ports import Snapshot
from ghp_agents.state.git.store import GitRefsStore
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import open_workspace
from tests.support.clock import ManualClock
from tests.support.git import git

Clones = Callable[[int], list[Path]]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def say(store: GitRefsStore, clock: ManualClock, event: str, id: str) -> None:
    def decide(snapshot: Snapshot) -> tuple[None, list[Record]]:
        at = Timestamp(to_text(clock.now()))
        path = f".ghp/{event}/{id}"
        files = ((path, id.encode()),)
        return None, [Record(event, Actor("worker-1"), id, id, at, snapshot.clock + 1, files)]

    transact(store, decide)


def pushes(remote: Path) -> str:
    return git(remote, "for-each-ref", "--format=%(objectname)", "refs/ghp/clone")


def test_the_first_exchange_is_made_at_once(
    clones: Clones, remote: Path, clock: ManualClock
) -> None:
    store = GitRefsStore(open_workspace(clones(1)[0], {}, clock))
    say(store, clock, "note", "one")
    assert store.sync(paced=True).pushed
    assert pushes(remote) != ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("event", "pause"),
    [
        ("escalate", 2.0),
        ("answer", 2.0),
        ("handoff", 2.0),
        ("issue-new", 2.0),
        ("lease", 10.0),
        ("presence", 19.0),
    ],
)
def test_what_others_wait_for_goes_sooner_than_the_rest(
    clones: Clones, remote: Path, clock: ManualClock, event: str, pause: float
) -> None:
    store = GitRefsStore(open_workspace(clones(1)[0], {}, clock))
    say(store, clock, event, "one")
    store.sync()
    sent = pushes(remote)
    say(store, clock, event, "two")
    clock.wait(1 if pause < 9 else 9)
    assert not store.sync(paced=True).fetched
    assert pushes(remote) == sent
    clock.wait(pause - (1 if pause < 9 else 9))
    assert store.sync(paced=True).pushed
    assert pushes(remote) != sent


@pytest.mark.slow
def test_asking_for_news_delays_no_push(clones: Clones, clock: ManualClock) -> None:
    store = GitRefsStore(open_workspace(clones(1)[0], {}, clock))
    say(store, clock, "note", "one")
    store.sync()
    say(store, clock, "note", "two")
    for _ in range(4):
        clock.wait(5)
        assert store.hear(5).fetched
    assert store.sync(paced=True).pushed


@pytest.mark.slow
def test_more_clones_call_less_often(clones: Clones, clock: ManualClock) -> None:
    stores = [GitRefsStore(open_workspace(folder, {}, clock)) for folder in clones(4)]
    for store in stores * 2:
        say(store, clock, "presence", f"{id(store)}-{clock.now()}")
        store.sync()
    say(stores[0], clock, "presence", "later")
    clock.wait(39)
    assert not stores[0].sync(paced=True).fetched
    clock.wait(12)
    assert stores[0].sync(paced=True).pushed


@pytest.mark.slow
def test_a_remote_that_refuses_is_heard_at_the_usual_pace_and_sent_to_after_an_hour(
    clones: Clones, remote: Path, clock: ManualClock
) -> None:
    hook = remote / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch asked\nexit 1\n")
    hook.chmod(0o755)
    store = GitRefsStore(open_workspace(clones(1)[0], {}, clock))
    say(store, clock, "escalate", "one")
    assert store.sync(paced=True).permanent
    (remote / "asked").unlink()
    clock.wait(3_000)
    assert store.sync(paced=True).fetched
    assert not (remote / "asked").exists()
    assert store.sync_status().permanent, "what was refused still is, though nobody asked again"
    clock.wait(601)
    assert store.sync(paced=True).permanent
    assert (remote / "asked").exists()
    hook.unlink()
    assert store.sync().pushed, "a person's own sync asks at once"
    assert not store.sync_status().permanent


@pytest.mark.slow
def test_clones_that_went_away_slow_nobody_down(clones: Clones, clock: ManualClock) -> None:
    stores = [GitRefsStore(open_workspace(folder, {}, clock)) for folder in clones(4)]
    for number, store in enumerate(stores):
        say(store, clock, "note", f"{number}")
        store.sync()
    clock.wait(8_000)
    say(stores[0], clock, "note", "later")
    stores[0].sync()
    say(stores[0], clock, "note", "later still")
    clock.wait(19)
    assert stores[0].sync(paced=True).pushed


def test_a_clock_that_was_set_back_stops_no_exchange(clones: Clones, clock: ManualClock) -> None:
    store = GitRefsStore(open_workspace(clones(1)[0], {}, clock))
    say(store, clock, "note", "one")
    store.sync()
    clock.wait(-86_400)
    say(store, clock, "note", "two")
    assert store.sync(paced=True).pushed
    say(store, clock, "note", "three")
    assert not store.sync(paced=True).fetched
