"""An agent in another clone that has the same name: nobody else begins under it, and both hear."""

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import AgentName
from ghp_agents.presence import same_name
from ghp_agents.presence import service as presence
from tests.support.context import make_context
from tests.support.leases import Yard, two_yards


@pytest.fixture
def yards(clones: object) -> tuple[Yard, Yard]:
    return two_yards(*clones(2))  # type: ignore[operator]


def exchange(*yards: Yard) -> None:
    for yard in (*yards, *yards):
        yard.store.sync()


def begin(yard: Yard) -> None:
    """Let worker-1 begin here: on this machine, and for others."""
    presence.heartbeat(yard.ws("worker-1"), yard.store, AgentName("worker-1"), {})
    yard.beat("worker-1")


def refused(yard: Yard, name: str) -> tuple[str, str] | None:
    try:
        same_name.refuse(make_context(yard.ws(None), yard.store), name)
    except RefusedError as error:
        return str(error), error.hint
    return None


def news(yard: Yard, name: str) -> list[tuple[str, str]]:
    return same_name.news(yard.parts(None), yard.store.snapshot(), name)


def test_nobody_begins_under_the_name_of_an_agent_at_work_in_another_clone(
    yards: tuple[Yard, Yard],
) -> None:
    one, two = yards
    begin(one)
    two.beat("worker-1-2")
    exchange(one, two)
    assert refused(one, "worker-1") is None
    assert refused(two, "worker-3") is None
    assert refused(two, "worker-1") == (
        "worker-1 is at work in another clone (clone-a), seen 0 s ago. Two agents cannot have one "
        "name.",
        "Use another name, such as `--as worker-1-3`. If this agent moved here, stop it there "
        "first: `ghp agent-status worker-1 --set stopped`.",
    )
    one.beat("worker-1", "stopped")
    exchange(one, two)
    assert refused(two, "worker-1") is None


def test_a_name_whose_agent_is_silent_is_free(yards: tuple[Yard, Yard]) -> None:
    one, two = yards
    one.beat("worker-1")
    one.clock.wait(700)
    two.clock.wait(700)
    exchange(one, two)  # the first news of it is old
    assert refused(two, "worker-1") is None


def test_two_at_work_under_one_name_both_hear(yards: tuple[Yard, Yard]) -> None:
    one, two = yards
    begin(one)
    begin(two)
    exchange(one, two)
    stays = "the other one is asked to rename itself."
    goes = "rename this one with `ghp agent-whoami --set NAME`, in a worktree of its own."

    def heard(yard: Yard, other: str, then: str) -> bool:
        words = (
            f"worker-1 is at work in another clone ({other}), seen 0 s ago. If you did not move "
            f"here from there, two agents have one name: {then}"
        )
        return news(yard, "worker-1") == [(words, f"rival {other}")]

    assert (heard(one, "clone-b", stays), heard(two, "clone-a", goes)) == (True, True)
    taken(two)
    one.locks.hear()
    assert (heard(one, "clone-b", goes), heard(two, "clone-a", stays)) == (True, True)
    assert news(one, "worker-2") == []


def taken(yard: Yard, *, force: bool = False) -> str:
    """Why worker-1 cannot have its name here; empty if it has."""
    try:
        same_name.take(yard.parts("worker-1"), "worker-1", force=force)
    except RefusedError as error:
        return str(error)
    return ""


def test_of_two_that_begin_at_once_the_remote_gives_one_the_name(yards: tuple[Yard, Yard]) -> None:
    one, two = yards
    assert taken(one) == ""
    other = "worker-1 has begun in another clone (clone-a). Two agents cannot have one name."
    assert taken(two) == other
    begin(one)
    exchange(one, two)
    assert taken(two).startswith("worker-1 has begun"), "its presence says so, too"
    assert taken(two, force=True) == "", "it moved"
    one.locks.hear()
    assert taken(one).startswith("worker-1 has begun in another clone (clone-b).")


def test_a_name_is_free_after_its_agent_but_not_after_its_earlier_life(
    yards: tuple[Yard, Yard],
) -> None:
    one, two = yards
    taken(one)
    one.beat("worker-1", "stopped")
    presence.heartbeat(one.ws("worker-1"), one.store, AgentName("worker-1"), {"status": "stopped"})
    exchange(one, two)
    taken(one)  # begins again, and others know only that it had stopped
    assert taken(two).startswith("worker-1 has begun")
    one.clock.wait(700)
    two.locks.hear()
    assert taken(two) == "", "nothing was heard of it for too long"


def test_a_living_agent_asks_the_remote_only_once(yards: tuple[Yard, Yard]) -> None:
    one, _ = yards
    taken(one)
    begin(one)
    one.locks._board.reachable = False
    assert taken(one) == ""


def test_a_name_is_free_in_each_clone_once_its_first_life_has_stopped(
    yards: tuple[Yard, Yard],
) -> None:
    one, two = yards
    taken(one)
    presence.heartbeat(one.ws("worker-1"), one.store, AgentName("worker-1"), {"status": "stopped"})
    one.beat("worker-1", "stopped")
    exchange(one, two)
    two.locks.hear()
    assert taken(two) == ""
