"""Waiting for a lease: in the order of asking, seen by all, and given up by who goes away."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core import files
from ghp_agents.core.errors import RefusedError
from ghp_agents.hotpath import implicit_leases as touched
from ghp_agents.leases.acquire import HeldError, attempt
from ghp_agents.leases.queue import ordinal, place
from ghp_agents.leases.request import Conflict, prepare
from ghp_agents.leases.service import waiting_places
from tests.support.context import make_context
from tests.support.escalations import RivalStore
from tests.support.leases import NOW, Yard, make_yard, two_yards

Clones = Callable[[int], list[Path]]


@pytest.fixture
def yard(repo: Path) -> Yard:
    return make_yard(repo)


def waiters(yard: Yard) -> list[tuple[str, list[str]]]:
    """Who waits, and behind whom."""
    return [(x.request.holder, [hold.holder for hold in x.behind]) for x in yard.listing().waiting]


def test_what_is_free_is_had_at_once_without_a_place_in_the_queue(yard: Yard) -> None:
    got, texts = yard.wait("worker-1", "src/")
    assert (got.hold.holder, got.is_new, texts) == ("worker-1", True, [])
    assert yard.events() == [("worker-1", "lease", "src/")]
    assert yard.clock.passed == 0


def test_who_waits_gets_it_a_second_after_it_is_given_back(yard: Yard) -> None:
    hold = yard.take("worker-1", "src/", reason="parser").hold
    yard.clock.at(10, lambda: yard.give("worker-1", "src/"))
    got, texts = yard.wait("worker-2", "src/a.py")
    assert texts == [
        f"1st in line, after worker-1: src/a.py is leased by worker-1 since {NOW} "
        f"({hold.short}), reason: «parser»"
    ]
    assert yard.clock.passed == 10
    assert got.hold.since == "2025-06-15T15:06:50Z"
    assert yard.held() == [("worker-2", "/src/a.py")]
    assert [event for _, event, _ in yard.events()] == ["lease", "lease-wait", "lease-release",
                                                        "lease"]  # fmt: skip


def test_the_queue_is_in_the_order_of_asking_and_everybody_has_their_turn(yard: Yard) -> None:
    yard.take("worker-1", "src/")
    turns: list[str] = []

    def stand(agent: str, then: Callable[[], object]) -> None:
        """Wait for it; while this one waits, the next comes, and goes before this one has it."""
        yard.clock.at(yard.clock.passed + 1, then)
        got, _ = yard.wait(agent, "src/a.py")
        turns.append(got.hold.holder)
        yard.clock.wait(5)
        yard.give(agent, "src/a.py")

    def last() -> None:
        assert waiters(yard) == [
            ("worker-2", ["worker-1"]),
            ("worker-3", ["worker-1", "worker-2"]),
        ]
        yard.give("worker-1", "src/")
        with pytest.raises(HeldError) as caught:
            yard.take("worker-4", "src/")
        assert [obstacle.kind for obstacle in caught.value.obstacles] == ["waiting", "waiting"]
        assert str(caught.value).startswith(
            "src/a.py is next for worker-2, which asked earlier, since"
        )

    def second() -> None:
        yard.clock.at(yard.clock.passed + 2, last)
        with pytest.raises(RefusedError, match=r"2nd in line, after worker-2"):
            yard.wait("worker-3", "src/a.py", timeout=3)

    stand("worker-2", second)
    assert turns == ["worker-2"]
    assert waiters(yard) == []


def test_nobody_jumps_the_queue_by_wanting_only_a_part(yard: Yard) -> None:
    yard.take("worker-1", "src/a.py")

    def jump() -> None:
        with pytest.raises(
            HeldError, match=r"^src/b\.py is next for worker-2, which asked earlier,"
        ):
            yard.take("worker-3", "src/b.py")
        assert yard.take("worker-3", "docs/").is_new, "what nobody waits for is free"

    yard.clock.at(3, jump)
    yard.clock.at(5, lambda: yard.give("worker-1", "src/a.py"))
    yard.wait("worker-2", "src/")


def test_who_waits_is_blocked_and_says_for_what_and_is_afterwards_what_it_was(yard: Yard) -> None:
    yard.take("worker-1", "src/")
    ws = yard.ws("worker-2")
    yard.edit("worker-2", "docs/a.md")
    states: list[object] = []
    yard.clock.at(3, lambda: states.append(dict(ws.presence("worker-2") or {})["status"]))
    yard.clock.at(3, lambda: states.append(dict(ws.presence("worker-2") or {})["lastAction"]))
    yard.clock.at(20, lambda: yard.give("worker-1", "src/"))
    yard.wait("worker-2", "src/")
    assert states[0] == "blocked"
    assert str(states[1]).startswith("Waits for src/: 1st in line, after worker-1: ")
    after = ws.presence("worker-2") or {}
    assert (after["status"], after["lastAction"]) == ("idle", "Started")


def test_a_timeout_gives_up_the_place(yard: Yard) -> None:
    yard.take("worker-1", "src/")
    with pytest.raises(RefusedError) as caught:
        yard.wait("worker-2", "src/", timeout=7)
    assert str(caught.value).startswith("Still leased after 7 s: 1st in line, after worker-1: ")
    assert yard.clock.passed == 7
    assert waiters(yard) == []
    assert yard.events()[-1] == ("worker-2", "lease-release", "src/: left the queue")


def test_an_interrupt_gives_up_the_place(yard: Yard) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    yard.take("worker-1", "src/")
    yard.clock.at(5, interrupt)
    with pytest.raises(KeyboardInterrupt):
        yard.wait("worker-2", "src/")
    assert waiters(yard) == []
    assert not list((yard.repo / ".git/ghp/waiting").iterdir())
    yard.give("worker-1", "src/")
    assert yard.take("worker-3", "src/").is_new


def kill_a_waiter(yard: Yard) -> None:
    """worker-2 waits for src/, and is killed meanwhile: its request is there, its process not."""
    plan = prepare(make_context(yard.ws("worker-2"), yard.store), yard.wanted(("src/",)))
    attempt(yard.parts("worker-2"), plan, in_line=True)


def test_a_waiter_whose_process_was_killed_is_skipped_though_its_agent_lives(yard: Yard) -> None:
    yard.take("worker-1", "src/")
    kill_a_waiter(yard)
    yard.beat("worker-2")
    assert waiters(yard) == []
    yard.give("worker-1", "src/")
    assert yard.take("worker-3", "src/").is_new


def test_who_comes_back_after_a_kill_has_its_old_place(yard: Yard) -> None:
    yard.take("worker-1", "src/")
    kill_a_waiter(yard)

    def come_back() -> None:
        yard.clock.at(yard.clock.passed + 2, lambda: yard.give("worker-1", "src/"))
        got, _ = yard.wait("worker-2", "src/")
        assert got.hold.holder == "worker-2"
        yard.give("worker-2", "src/")

    yard.clock.at(yard.clock.passed + 2, come_back)
    got, texts = yard.wait("worker-3", "src/")
    assert got.hold.holder == "worker-3"
    assert [text.split(":")[0] for text in texts] == ["1st in line, after worker-1"]
    waiters = [who for who, event, _ in yard.events() if event == "lease-wait"]
    assert waiters == ["worker-2", "worker-3"], "worker-2 did not ask twice"


def test_a_waiter_that_died_is_skipped(yard: Yard) -> None:
    yard.take("worker-1", "src/")

    def check() -> None:
        yard.beat("worker-2", "stopped")
        yard.give("worker-1", "src/")
        assert yard.take("worker-3", "src/").is_new
        yard.give("worker-3", "src/")
        yard.beat("worker-2", epoch=2)

    yard.clock.at(3, check)
    got, _ = yard.wait("worker-2", "src/")
    assert got.hold.holder == "worker-2"


def test_where_no_lock_can_be_made_who_waits_still_counts(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "is_locked", lambda path: None)
    yard.take("worker-1", "src/")
    states: list[object] = []
    yard.clock.at(2, lambda: states.append(waiters(yard)))
    with pytest.raises(RefusedError):
        yard.wait("worker-2", "src/", timeout=3)
    assert states == [[("worker-2", ["worker-1"])]]


def test_edits_of_another_are_waited_for_too(yard: Yard) -> None:
    yard.edit("worker-1", "src/a.py")
    ws = yard.ws("worker-1")
    yard.clock.at(4, lambda: touched.drop_all(ws.folders, "worker-1"))
    got, texts = yard.wait("worker-2", "src/")
    assert got.is_new
    assert texts == [
        f"1st in line, after worker-1: src/a.py is being edited by worker-1 since {NOW}"
    ]


def test_who_gives_way_to_an_edit_waits_on_with_another_request(yard: Yard) -> None:
    assert isinstance(yard.store, RivalStore)
    ws = yard.ws("worker-1")
    yard.store.rival = lambda: yard.edit("worker-1", "src/a.py")
    states: list[object] = []
    yard.clock.at(3, lambda: states.append(waiters(yard)))
    yard.clock.at(4, lambda: touched.drop_all(ws.folders, "worker-1"))
    got, texts = yard.wait("worker-2", "src/")
    assert got.is_new
    assert yard.held() == [("worker-2", "src/")]
    assert states == [[("worker-2", [])]]
    assert len(texts) == 1
    assert [event for _, event, _ in yard.events()] == [
        "lease", "lease-release", "lease-wait", "lease",
    ]  # fmt: skip


def test_a_person_can_take_somebody_out_of_the_queue(yard: Yard) -> None:
    yard.take("worker-1", "src/")

    def take_out() -> None:
        (waiter,) = yard.listing().waiting
        yard.give(None, waiter.request.short, reason="not today")

    yard.clock.at(3, take_out)
    with pytest.raises(RefusedError) as caught:
        yard.wait("worker-2", "src/")
    assert str(caught.value) == (
        "«Test Person» (a person) cancelled this request. «Test Person» (a person) gave this "
        "reason: «not today»."
    )
    assert waiters(yard) == []


def test_a_time_counts_from_when_it_is_had(yard: Yard) -> None:
    yard.take("worker-1", "src/")
    yard.clock.at(100, lambda: yard.give("worker-1", "src/"))
    got, _ = yard.wait("worker-2", "src/", ttl=60.0)
    assert got.hold.until == "2025-06-15T15:09:20Z"
    assert yard.listing().held == [got.hold]


def test_a_release_in_another_clone_is_heard_by_a_sync(clones: Clones) -> None:
    one, other = two_yards(*clones(2))
    one.take("worker-1", "src/")
    one.sync()
    other.sync()

    def release() -> None:
        one.give("worker-1", "src/")
        one.sync()

    one.clock.at(20, release)
    got, _ = other.wait("worker-2", "src/a.py")
    assert got.hold.holder == "worker-2"
    assert 20 <= one.clock.passed <= 20 + 16


def test_files_that_are_made_meanwhile_are_covered(yard: Yard) -> None:
    yard.take("worker-1", "docs/")
    yard.clock.at(3, (yard.repo / "docs/new.toml").touch)
    yard.clock.at(30, lambda: yard.give("worker-1", "docs/"))
    (yard.repo / "docs/old.toml").touch()
    got, _ = yard.wait("worker-2", "/docs/*.toml")
    assert got.covered == ("docs/new.toml", "docs/old.toml")


def test_a_strict_lease_is_waited_for_and_the_remote_is_asked_seldom(clones: Clones) -> None:
    one, other = two_yards(*clones(2))
    one.take("worker-1", "src/", strict=True)
    times: list[float] = []
    plain = other.locks.list

    def counting(prefix: str = "") -> list[object]:
        times.append(one.clock.passed)
        return plain(prefix)  # type: ignore[return-value]

    other.locks.list = counting  # type: ignore[assignment,method-assign]
    one.clock.at(40, lambda: one.give("worker-1", "src/"))
    got, texts = other.wait("worker-2", "src/a.py", strict=True)
    assert got.hold.strict
    assert len(times) <= 8, "no more often than there are news"
    assert [text.split(":")[0] for text in texts] == ["1st in line, after worker-1"]


def test_a_place_names_who_is_ahead() -> None:
    ahead = [Conflict("a", f"worker-{n}", False, NOW, "waiting") for n in range(1, 6)]
    assert place([*ahead, ahead[0]]) == (
        "7th in line, after worker-1, worker-2, worker-3 and 2 more: a is next for worker-1, "
        f"which asked earlier, since {NOW}"
    )
    numbers = [1, 2, 3, 4, 11, 12, 13, 21, 22, 101, 111]
    assert " ".join(map(ordinal, numbers)) == (
        "1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 101st 111th"
    )


def test_the_file_of_who_waits_is_locked_and_goes_away(yard: Yard) -> None:
    yard.take("worker-1", "src/")
    states: list[object] = []

    def look() -> None:
        (waiter,) = yard.listing().waiting
        path = waiting_places(yard.ws(None), waiter.request.id)[0]
        states.extend([path.exists(), files.is_locked(path)])
        yard.give("worker-1", "src/")

    yard.clock.at(2, look)
    yard.wait("worker-2", "src/")
    assert states == [True, True]
    assert not list((yard.repo / ".git/ghp/waiting").iterdir())
