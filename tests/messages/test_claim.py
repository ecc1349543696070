"""A message to a group is claimed by one agent, over all clones."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import Actor
from ghp_agents.hotpath import heartbeat
from ghp_agents.messages import reply
from ghp_agents.messages.record import path_of, render_message
from ghp_agents.ports import Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.state.codec import ledger_record
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.wiring import App
from tests.support.messages import Post, message


@pytest.fixture
def boss(repo: Path) -> Post:
    """worker-1, which asks all others."""
    return Post(repo, "worker-1")


def test_of_a_group_exactly_one_agent_has_a_message(boss: Post) -> None:
    name = boss.send("@all", kind="request").message.name
    two, three = boss.by("worker-2"), boss.by("worker-3")
    assert two.claim(name).is_new
    with pytest.raises(RefusedError, match=f"worker-2 has claimed {name}"):
        three.claim(name)
    with pytest.raises(RefusedError, match=f"worker-2 has claimed {name}"):
        three.done(name)
    assert [letter.holder for letter in three.inbox()] == ["worker-2"]
    assert three.unread() == []


def test_a_refused_claim_does_not_register_its_agent(boss: Post) -> None:
    name = boss.send("@all", kind="request").message.name
    boss.by("worker-2").claim(name)
    three = App(boss.repo, os.environ, name="worker-3", clock=boss.clock)
    with pytest.raises(RefusedError, match="worker-2 has claimed"):
        reply.claim(three, name)
    assert three.ws.presence("worker-3") is None
    other = boss.send("@all", kind="request", subject="Test it").message.name
    assert reply.claim(three, other).is_new
    assert (three.ws.presence("worker-3") or {})["status"] == "idle"


def test_after_the_completion_the_lock_stays_for_clones_that_have_not_heard_of_it(
    boss: Post,
) -> None:
    name = boss.send("@all", kind="request").message.name
    two = boss.by("worker-2")
    two.done(name, "Done.")
    assert [(lock.name, lock.holder) for lock in two.parts.locks.known("inbox/")] == [
        (f"inbox/{name[2:]}", "worker-2")
    ]
    assert [letter.state for letter in two.inbox()] == ["resolved"]
    assert not two.done(name, "Done.").is_new


def test_the_claim_of_an_agent_that_stopped_lapses_and_what_it_says_later_counts_no_more(
    boss: Post,
) -> None:
    name = boss.send("@all", kind="request").message.name
    two = boss.by("worker-2")
    two.claim(name)
    assert boss.by("worker-3").unread() == []
    presence.heartbeat(two.ws, two.store, two.ws.agent(), {"status": "stopped"})
    three = boss.by("worker-3")
    assert [x.state for x in three.inbox()] == ["new"]
    assert len(three.unread()) == 1
    assert three.claim(name).is_new
    with pytest.raises(RefusedError, match="worker-3 has claimed"):
        two.done(name, "Late.")
    assert [(x.state, x.holder) for x in three.inbox()] == [("claimed", "worker-3")]


def test_what_is_done_is_not_claimed_again(boss: Post) -> None:
    name = boss.send("@all", kind="request").message.name
    boss.by("worker-2").done(name)
    with pytest.raises(RefusedError, match=f"{name} is resolved already"):
        boss.by("worker-3").claim(name)


def test_a_reply_that_claims_more_than_the_lock_says_changes_nothing(boss: Post) -> None:
    request = boss.send("@all", kind="request").message
    two = boss.by("worker-2")
    two.claim(request.name)
    forged = message(
        "f" * 12, by=Actor("worker-9"), to=("worker-1",), kind="done", about=request.id, clock=99,
        claim=2**53 - 2,
    )  # fmt: skip

    def decide(snapshot: Snapshot) -> tuple[None, list[Record]]:
        files = [(path_of(forged.id), render_message(forged))]
        return None, [ledger_record(forged, "done", request.name, files)]

    transact(boss.store, decide)
    assert [(x.state, x.holder) for x in two.inbox()] == [("claimed", "worker-2")]


@pytest.mark.slow
def test_in_another_clone_the_claim_of_an_agent_that_stopped_lapses_at_the_next_sync(
    clones: Callable[[int], list[Path]],
) -> None:
    boss, two = (Post(x, n) for x, n in zip(clones(2), ("worker-1", "worker-2"), strict=True))
    two.parts.store.sync()
    name = boss.send("@all", kind="request").message.name
    boss.parts.store.sync()
    two.parts.store.sync()
    two.claim(name)
    two.parts.store.sync()
    boss.parts.store.sync()
    three = boss.by("worker-3")
    with pytest.raises(RefusedError, match="worker-2 has claimed"):
        three.claim(name)
    boss.clock.wait(60)
    two.clock.wait(60)
    presence.heartbeat(two.ws, two.store, two.ws.agent(), {"status": "stopped"})
    two.parts.store.sync()
    boss.parts.store.sync()
    assert three.claim(name).is_new
    with pytest.raises(RefusedError, match="worker-3 has claimed"):
        two.done(name, "Late.")


@pytest.mark.slow
def test_in_another_clone_a_stop_that_was_heard_before_the_claim_does_not_end_it(
    clones: Callable[[int], list[Path]],
) -> None:
    boss, two = (Post(x, n) for x, n in zip(clones(2), ("worker-1", "worker-2"), strict=True))
    name = boss.send("@all", kind="request").message.name
    presence.heartbeat(two.ws, two.store, two.ws.agent(), {"status": "stopped"})
    for post in (boss, two, boss):
        post.parts.store.sync()
        post.clock.wait(60)
    now, moment = two.clock.now(), two.clock.interval()
    heartbeat.beat(two.ws.folders, "worker-2", {"status": "testing"}, now, moment=moment)
    two.claim(name)
    boss.clock.wait(60)
    with pytest.raises(RefusedError, match="worker-2 has claimed"):
        boss.by("worker-3").claim(name)
