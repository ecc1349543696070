"""Leasing: exclusive at once within a clone, refused with who has it and what next."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError, UnknownError, UsageError
from ghp_agents.core.ids import AgentName, Timestamp
from ghp_agents.leases.acquire import HeldError, LeaseResult
from ghp_agents.leases.hold import Hold
from ghp_agents.presence import service as presence
from tests.support.consent import mine
from tests.support.escalations import RivalStore
from tests.support.leases import NOW, Yard, make_yard, two_yards

Clones = Callable[[int], list[Path]]


@pytest.fixture
def yard(repo: Path) -> Yard:
    return make_yard(repo)


def test_a_lease_is_granted_with_the_files_that_it_covers(yard: Yard) -> None:
    got = yard.take("worker-1", "src/", "!gen/", reason="new  parser")
    expected = Hold(
        id=got.hold.id,
        holder="worker-1",
        is_person=False,
        patterns=("src/", "!gen/"),
        name=None,
        since=Timestamp(NOW),
        reason="new parser",
    )
    assert got == LeaseResult(expected, is_new=True, covered=("src/a.py", "src/b.py"))
    assert yard.listing().held == [expected]
    assert yard.events() == [("worker-1", "lease", "src/, !gen/: new parser")]


def test_leasing_the_same_again_changes_nothing(yard: Yard) -> None:
    first = yard.take("worker-1", "src/")
    again = yard.take("worker-1", "src/", reason="said later")
    assert again == first._replace(is_new=False)
    assert len(yard.events()) == 1


def test_what_another_has_is_refused_with_who_since_when_and_why(yard: Yard) -> None:
    hold = yard.take("worker-1", "src/", reason="new parser").hold
    with pytest.raises(HeldError) as caught:
        yard.take("worker-2", "src/a.py")
    assert str(caught.value) == (
        f"src/a.py is leased by worker-1 since {NOW} ({hold.short}), reason: «new parser»."
    )
    assert caught.value.hint == (
        "Work on something else, wait with `ghp agent-lease /src/a.py --wait`, or ask: `ghp "
        "agent-escalate …`."
    )
    assert yard.held() == [("worker-1", "src/")]


def test_a_refused_request_neither_registers_its_agent_nor_brings_it_back(yard: Yard) -> None:
    yard.take("worker-1", "src/")
    yard.take("worker-2", "docs/")
    two = yard.ws("worker-2")
    presence.heartbeat(two, yard.store, AgentName("worker-2"), {"status": "stopped"})
    before = two.presence("worker-2")
    for agent in ("worker-2", "worker-3"):
        for how in ({}, {"strict": True}):
            with pytest.raises(HeldError):
                yard.take(agent, "src/a.py", **how)
    assert two.presence("worker-2") == before
    assert two.presence("worker-3") is None
    yard.take("worker-3", "README.md", strict=True)
    assert (two.presence("worker-3") or {})["status"] == "idle"


def test_all_that_stands_in_the_way_is_counted(yard: Yard) -> None:
    yard.take("worker-1", "src/a.py")
    yard.take("worker-2", "src/b.py")
    yard.take("worker-3", "docs/")
    with pytest.raises(HeldError) as caught:
        yard.take("worker-4", "*")
    assert str(caught.value).endswith(". 2 more conflicts.")
    assert [obstacle.holder for obstacle in caught.value.obstacles] == [
        "worker-1",
        "worker-2",
        "worker-3",
    ]


def test_leases_that_have_nothing_in_common_are_all_granted(yard: Yard) -> None:
    yard.take("worker-1", "src/", "!gen/")
    yard.take("worker-2", "src/gen/")
    yard.take("worker-3", "*.md")
    yard.take("worker-4", name="src")
    assert [holder for holder, _ in yard.held()] == [f"worker-{n}" for n in range(1, 5)]


def test_a_file_that_is_not_there_yet_can_be_leased_and_is_in_a_leased_folder(yard: Yard) -> None:
    assert yard.take("worker-1", "src/new.py").covered == ()
    with pytest.raises(HeldError, match=r"^src/new\.py is leased by worker-1"):
        yard.take("worker-2", "src/new.py")
    with pytest.raises(HeldError, match=r"^src/new\.py is leased by worker-1"):
        yard.take("worker-2", "src/")


def test_a_file_that_git_does_not_know_yet_counts_and_one_that_it_ignores_does_not(
    yard: Yard,
) -> None:
    (yard.repo / ".gitignore").write_text("*.log\n")
    (yard.repo / "new.toml").touch()
    (yard.repo / "run.log").touch()
    assert yard.take("worker-1", "*.toml", "*.log").covered == ("new.toml",)


def test_a_named_resource_has_one_holder(yard: Yard) -> None:
    yard.take("worker-1", name="staging-db")
    with pytest.raises(HeldError, match=r"^staging-db is leased by worker-1") as caught:
        yard.take("worker-2", name="staging-db")
    assert "`ghp agent-lease --name staging-db --wait`" in caught.value.hint
    yard.take("worker-2", name="port-8080")


def test_a_person_leases_and_that_never_lapses(yard: Yard) -> None:
    yard.take(None, "src/")
    yard.clock.wait(10 * 86_400)
    with pytest.raises(
        HeldError, match=r"^src/a\.py is leased by «Test Person» \(a person\) since"
    ):
        yard.take("worker-1", "src/a.py")


def test_an_agent_and_a_person_of_one_name_are_two(yard: Yard) -> None:
    yard.take("worker-1", "src/")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_CONFIG_COUNT", "1")
        patch.setenv("GIT_CONFIG_KEY_0", "user.name")
        patch.setenv("GIT_CONFIG_VALUE_0", "worker-1")
        with pytest.raises(HeldError):
            yard.take(None, "src/")


# ------------------------------------------------------------------------------ ends of leases


@pytest.mark.parametrize("status", ["stopped", "implementing"])
def test_a_lease_lapses_with_its_holders_life_and_does_not_come_back(
    yard: Yard, status: str
) -> None:
    yard.take("worker-1", "src/")
    yard.beat("worker-1", status)
    if status != "stopped":
        yard.clock.wait(1_801)
    assert yard.held() == []
    yard.take("worker-2", "src/a.py")
    yard.beat("worker-1", "implementing", epoch=2)
    assert yard.held() == [("worker-2", "/src/a.py")]
    assert ("worker-2", "lease-release", "src/: worker-1 does not live any more") in yard.events()


def test_a_holder_that_comes_back_before_anybody_else_came_still_has_it(yard: Yard) -> None:
    yard.take("worker-1", "src/")
    yard.beat("worker-1")
    yard.clock.wait(1_801)
    assert yard.held() == []
    yard.beat("worker-1")
    assert yard.held() == [("worker-1", "src/")]
    assert not yard.take("worker-1", "src/").is_new


def test_a_lease_for_a_time_ends_with_it(yard: Yard) -> None:
    got = yard.take("worker-1", "src/", ttl=60.0)
    assert got.hold.until == "2025-06-15T15:07:40Z"
    yard.clock.wait(59)
    with pytest.raises(HeldError):
        yard.take("worker-2", "src/")
    yard.clock.wait(1)
    assert yard.held() == []
    yard.take("worker-2", "src/")
    assert yard.held() == [("worker-2", "src/")]
    assert ("worker-2", "lease-release", "src/: its time was up") in yard.events()


def test_leasing_again_with_a_time_renews_it_from_then_on(yard: Yard) -> None:
    first = yard.take("worker-1", "src/", ttl=60.0)
    yard.clock.wait(30)
    again = yard.take("worker-1", "src/", ttl=60.0)
    assert not again.is_new
    assert again.hold == first.hold._replace(until=Timestamp("2025-06-15T15:08:10Z"))
    yard.clock.wait(59)
    assert yard.held() == [("worker-1", "src/")]


def test_a_clock_of_another_machine_ends_nothing(clones: Clones) -> None:
    one, other = two_yards(*clones(2))
    one.take(None, "src/", ttl=60.0)
    one.sync()
    other.sync()
    one.clock.wait(7_200)  # what the other clone's clock shows says nothing about the first one's
    assert other.held() == [("Test Person", "src/")]
    assert one.held() == []
    one.sync()
    other.sync()
    assert other.held() == []


# -------------------------------------------------------------------------------- races


def test_of_two_who_decide_at_once_in_one_clone_one_is_refused(yard: Yard) -> None:
    assert isinstance(yard.store, RivalStore)
    yard.store.rival = lambda: yard.take("worker-2", "src/a.py")
    with pytest.raises(HeldError, match=r"^src/a\.py is leased by worker-2"):
        yard.take("worker-1", "src/")
    assert yard.held() == [("worker-2", "/src/a.py")]


def test_a_file_that_another_edits_is_refused(yard: Yard) -> None:
    assert yard.edit("worker-2", "src/a.py") is None
    with pytest.raises(HeldError) as caught:
        yard.take("worker-1", "src/")
    assert str(caught.value) == f"src/a.py is being edited by worker-2 since {NOW}."
    assert yard.held() == []
    assert yard.take("worker-2", "src/").is_new, "its own edits are in nobody's way"


def test_an_edit_that_begins_while_the_lease_is_written_wins_and_the_lease_is_given_back(
    yard: Yard,
) -> None:
    assert isinstance(yard.store, RivalStore)
    yard.store.rival = lambda: yard.edit("worker-2", "src/a.py")
    with pytest.raises(HeldError, match=r"^src/a\.py is being edited by worker-2"):
        yard.take("worker-1", "src/")
    assert yard.held() == []
    assert yard.events() == [
        ("worker-1", "lease", "src/"),
        ("worker-1", "lease-release", "src/: worker-2 edits it"),
    ]


def test_files_that_nobody_leases_are_in_nobodys_way(yard: Yard) -> None:
    (yard.repo / ".gitignore").write_text("*.log\n")
    (yard.repo / ".gitattributes").write_text("src/gen/* linguist-generated\n")
    yard.edit("worker-2", "run.log")
    yard.edit("worker-2", "src/gen/x.py")
    assert yard.take("worker-1", "*").is_new


def test_a_stopped_agent_that_leases_lives_again(yard: Yard) -> None:
    yard.take("worker-1", "src/")
    ws = yard.ws("worker-1")
    assert (ws.presence("worker-1") or {})["status"] == "idle"


# ----------------------------------------------------------------------- for somebody else


def test_a_person_leases_for_an_agent_with_leave(yard: Yard) -> None:
    got = yard.take(None, "src/", holder="worker-1")
    assert (got.hold.holder, got.hold.is_person, got.hold.approved) == ("worker-1", False, True)
    assert yard.events() == [("Test Person", "lease", "src/")]
    assert not yard.take(None, "src/", holder="worker-1").is_new


def test_an_orchestrator_leases_for_an_agent_and_other_agents_do_not(yard: Yard) -> None:
    mine({"agents": {"orchestrators": ["boss"]}})
    assert yard.take("boss", "src/", holder="worker-1").hold.approved
    with pytest.raises(RefusedError) as caught:
        yard.take("worker-1", "docs/", holder="worker-2")
    assert str(caught.value) == "worker-1 may not lease for worker-2."
    assert caught.value.hint


@pytest.mark.parametrize(
    ("words", "more", "message"),
    [
        ((), {}, "A lease needs either path patterns or a named resource."),
        (("a",), {"name": "b"}, "A lease needs either path patterns or a named resource."),
        ((), {"name": "A b"}, "'A b' is not a valid resource name."),
        ((), {"name": "x" * 65}, f"'{'x' * 59}…' is not a valid resource name."),
        (("a",), {"ttl": 0.5}, "A lease lasts from 1 second to one year."),
        (("a",), {"ttl": 1e12}, "A lease lasts from 1 second to one year."),
        (("a",), {"holder": "No Agent"}, "'No Agent' is not a valid agent name."),
    ],
)
def test_bad_words_change_nothing_and_say_what_to_do(
    yard: Yard, words: tuple[str, ...], more: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        yard.take(None, *words, **more)
    assert str(caught.value) == message
    assert caught.value.hint
    assert yard.store.ledger() == []


def test_a_huge_reason_is_cut_and_control_characters_are_taken_out(yard: Yard) -> None:
    hold = yard.take("worker-1", "src/", reason="\x1b[31mred\n" + "x" * 10_000 + "\udc80").hold
    assert len(hold.reason) == 500
    assert hold.reason.startswith("[31mred xxx")
    assert yard.listing().held == [hold]


def test_a_strict_lease_out_of_reach_is_unknown_and_leaves_nothing(clones: Clones) -> None:
    one, _ = two_yards(*clones(2))
    one.locks._board.reachable = False
    with pytest.raises(UnknownError):
        one.take("worker-1", "src/", strict=True)
    assert one.held() == []
    assert one.events() == []
