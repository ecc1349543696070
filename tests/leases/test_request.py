"""A lease on its way: whom it is for, and what stands in its way in words."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import Actor, AgentName
from ghp_agents.leases.request import Conflict, LeaseRequest, begin, prepare
from ghp_agents.presence import service as presence
from tests.support.context import make_context
from tests.support.leases import NOW, Yard, make_yard


@pytest.fixture
def yard(repo: Path) -> Yard:
    return make_yard(repo)


def test_an_agent_begins_with_the_epoch_of_its_request(yard: Yard) -> None:
    ctx = make_context(yard.ws("worker-1"), yard.store)
    plan = prepare(ctx, yard.wanted(("src/",)))
    assert (plan.by, plan.holder, plan.epoch) == (Actor("worker-1"), Actor("worker-1"), 1)
    assert plan.approved_by == ""
    assert ctx.ws.presence("worker-1") is None, "the request may be refused"
    begin(ctx, plan)
    assert (ctx.ws.presence("worker-1") or {})["epoch"] == 1
    presence.heartbeat(ctx.ws, yard.store, AgentName("worker-1"), {"status": "stopped"})
    again = prepare(ctx, yard.wanted(("src/",)))
    begin(ctx, again)
    assert (again.epoch, (ctx.ws.presence("worker-1") or {})["epoch"]) == (2, 2)


def test_a_person_has_no_epoch_and_no_presence(yard: Yard) -> None:
    plan = prepare(make_context(yard.ws(None), yard.store), yard.wanted(("src/",)))
    assert (plan.holder, plan.epoch) == (Actor("Test Person", True), 0)
    assert plan.approved_by == "Test Person"
    assert not (yard.repo / ".git/ghp/agents").exists()


def test_an_agent_for_whom_another_leases_is_not_said_to_live(yard: Yard) -> None:
    plan = prepare(
        make_context(yard.ws(None), yard.store), yard.wanted(("src/",), holder="worker-1")
    )
    assert (plan.holder, plan.epoch) == (Actor("worker-1"), 1)
    assert yard.ws(None).presence("worker-1") is None


def test_where_no_presence_can_be_written_nothing_is_leased(yard: Yard) -> None:
    (yard.repo / ".git/ghp").write_text("in the way")
    spare = yard.repo / "spare"
    spare.write_text("in the way")
    ctx = make_context(yard.ws("worker-1", GHP_STATE_DIR=str(spare)), yard.store)
    with pytest.raises(GhpError) as caught:
        begin(ctx, prepare(ctx, yard.wanted(("src/",))))
    assert str(caught.value).startswith("Cannot register worker-1: ")
    assert "GHP_STATE_DIR" in caught.value.hint


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (LeaseRequest(("/src/",)), "/src/"),
        (LeaseRequest(("/lib/a b",), typed=("a b",)), "'a b'"),
        (LeaseRequest(("a", "b", "c", "d")), "a b c …"),
        (LeaseRequest(name="db"), "--name db"),
    ],
)
def test_what_is_wanted_as_words_of_a_command(yard: Yard, wanted: LeaseRequest, words: str) -> None:
    assert prepare(make_context(yard.ws(None), yard.store), wanted).words == words


@pytest.mark.parametrize(
    ("obstacle", "words"),
    [
        (
            Conflict("src/a.py", "worker-1", False, NOW, "held", "L-3f9a", "new parser"),
            f"src/a.py is leased by worker-1 since {NOW} (L-3f9a), reason: «new parser»",
        ),
        (
            Conflict("db", "Ada", True, NOW, "waiting", "L-3f9a"),
            f"db is next for «Ada» (a person), which asked earlier, since {NOW} (L-3f9a)",
        ),
        (
            Conflict("a", "worker-1", False, NOW, "editing"),
            f"a is being edited by worker-1 since {NOW}",
        ),
    ],
)
def test_what_stands_in_the_way_in_words(obstacle: Conflict, words: str) -> None:
    assert obstacle.words == words
