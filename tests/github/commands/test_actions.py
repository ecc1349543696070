"""Obeying: each command does what a person would expect, and doing it again changes nothing."""

from typing import Any

import pytest

from ghp_agents.claims.effects import ClaimContext
from ghp_agents.core.errors import UnknownError
from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.github.commands.actions import CommandContext, execute
from ghp_agents.github.commands.parse import Command
from ghp_agents.issues.comment_commands import Act, Obeyed, encode
from ghp_agents.issues.issue import IssueChange
from ghp_agents.issues.local import LocalTracker
from ghp_agents.leases.world import LeaseWorld
from ghp_agents.sweep import facts as sweep_facts
from ghp_agents.workspace import now_text
from tests.support.claimants import DEAD, Claimant, Team, known
from tests.support.context import make_context
from tests.support.sweeps import Doom, Doomed, Killed, Rival, handoffs, run

ADA = Actor("@ada", is_person=True)


@pytest.fixture
def two(team: Team, one: Claimant) -> Claimant:
    """worker-2 in a clone of its own, where commands are obeyed."""
    two = team.join("worker-2")
    two.beat(status="idle")
    return two.sync()


def order(here: Claimant, command: Command, comment: int = 7, **parts: Any) -> CommandContext:
    ctx = make_context(
        here.ws, **{"store": here.store, "locks": here.locks, "tracker": here.tracker, **parts}
    )
    me = ClaimContext(ctx, ADA, 0)
    return CommandContext(me, here.tracker.get(1), comment, command)


def do(here: Claimant, verb: str, name: str = "", text: str = "", comment: int = 7) -> Act:
    return execute(order(here, Command(verb, name, text), comment))


def held(here: Claimant) -> tuple[str | None, int]:
    lease = here.locks.read("issue/1")
    assert lease
    return lease.holder, lease.generation


def assign(here: Claimant, *names: str) -> None:
    here.tracker.change(1, IssueChange(add_assignees=names), ADA)


@pytest.mark.slow
def test_assigning_replaces_agents_and_leaves_people(two: Claimant) -> None:
    assign(two, "worker-1", "Bob Example")
    act = do(two, "assign", "worker-2")
    assert (act.command, act.fate, act.words) == (
        "/agent assign worker-2", "done", "worker-2 is assigned"
    )  # fmt: skip
    assert two.assignees(1) == ("Bob Example", "worker-2")


@pytest.mark.slow
def test_who_has_it_already_keeps_it(one: Claimant, two: Claimant) -> None:
    one.claim(1)
    assert do(two.sync(), "assign", "worker-1").words == "worker-1 already holds it"
    assert held(two) == ("worker-1", 1)


@pytest.mark.slow
def test_from_a_living_agent_it_is_stolen_in_the_persons_name(one: Claimant, two: Claimant) -> None:
    one.claim(1)
    one.sync()
    assert do(two.sync(), "assign", "worker-2").words == "worker-2 is assigned (before: worker-1)"
    lease = known(two)
    assert lease
    assert (lease.holder, lease.generation, lease.is_person) == ("worker-2", 2, False)
    assert lease.reason == "stolen: @ada by /agent assign, comment 7"
    assert two.assignees(1) == ("worker-2",)
    assert handoffs(two) == []
    assert two.story(1)[-1] == (
        "release", "@ada", 2,
        "to worker-2; stolen: @ada by /agent assign, comment 7; held by worker-1",
    )  # fmt: skip


@pytest.mark.slow
def test_of_a_dead_agent_there_is_a_handoff_for_the_next(
    team: Team, one: Claimant, two: Claimant
) -> None:
    one.claim(1)
    one.sync()
    two.sync()
    team.silence(DEAD, two)
    do(two, "assign", "worker-2")
    assert held(two) == ("worker-2", 2)
    assert [handoff.to for handoff in handoffs(two)] == ["worker-2"]
    lease = known(two)
    assert lease
    assert lease.reason == "stolen: worker-1 is dead; @ada by /agent assign, comment 7"


@pytest.mark.slow
def test_a_person_who_has_it_is_replaced_by_a_persons_word(
    team: Team, one: Claimant, two: Claimant
) -> None:
    team.person("worker-1").claim(1)
    one.sync()
    do(two.sync(), "assign", "worker-2")
    assert held(two) == ("worker-2", 2)


@pytest.mark.slow
def test_the_same_command_again_does_not_undo_what_came_after_it(
    one: Claimant, two: Claimant
) -> None:
    one.claim(1)
    one.sync()
    do(two.sync(), "assign", "worker-2")
    do(two, "assign", "worker-1", comment=8)
    assert held(two) == ("worker-1", 3)
    assert do(two, "assign", "worker-2").fate == "done"
    assert held(two) == ("worker-1", 3)


@pytest.mark.slow
def test_stopping_tells_the_living_and_takes_nothing_from_it(one: Claimant, two: Claimant) -> None:
    one.claim(1)
    one.sync()
    act = do(two.sync(), "stop")
    assert act == Act("stop", "/agent stop", "done", "worker-1 was told to stop", "worker-1", 1)
    assert held(two) == ("worker-1", 1)


@pytest.mark.slow
def test_stopping_gives_back_what_a_dead_one_had(team: Team, one: Claimant, two: Claimant) -> None:
    one.claim(1)
    one.sync()
    two.sync()
    team.silence(DEAD, two)
    assert do(two, "stop").words == "worker-1 is dead; its claim was released"
    assert held(two) == (None, 1)
    assert two.assignees(1) == ()
    assert len(handoffs(two)) == 1


def test_stopping_what_nobody_has_takes_agents_off(two: Claimant) -> None:
    assign(two, "worker-1", "Bob Example")
    assert do(two, "stop").words == "nobody is working on it"
    assert two.assignees(1) == ("Bob Example",)


@pytest.mark.slow
def test_people_are_not_stopped(team: Team, one: Claimant, two: Claimant) -> None:
    team.person("worker-1").claim(1)
    one.sync()
    act = do(two.sync(), "stop")
    assert (act.fate, act.words) == ("refused", "Ann Example, a person, holds it.")


@pytest.mark.slow
def test_retrying_leaves_a_living_holder_alone(one: Claimant, two: Claimant) -> None:
    one.claim(1)
    one.sync()
    assert do(two.sync(), "retry").words == "the number of attempts is reset; worker-1 holds it"
    assert held(two) == ("worker-1", 1)
    assert two.assignees(1) == ("worker-1",)


@pytest.mark.slow
def test_retrying_puts_what_a_dead_one_had_back_into_the_queue(
    team: Team, one: Claimant, two: Claimant
) -> None:
    one.claim(1)
    one.sync()
    two.sync()
    team.silence(DEAD, two)
    assert do(two, "retry").words == "back in the queue"
    assert held(two) == (None, 1)
    two.claim_next()
    assert held(two) == ("worker-2", 2)


@pytest.mark.slow
def test_attempts_count_from_the_last_retry_on(team: Team, one: Claimant, two: Claimant) -> None:
    one.claim(1)
    one.sync()
    run(two.sync())
    team.silence(DEAD, two)
    run(two)
    assert attempts(two) == {1: 1}
    snapshot = two.store.snapshot()
    at, clock = Timestamp(now_text(two.ws)), snapshot.clock + 1
    obeyed = Obeyed(7, 1, ADA, (do(two, "retry"),), at, clock, snapshot.clone)
    two.store.commit([encode(obeyed)], expected=two.store.snapshot().revision)
    assert attempts(two) == {}


def attempts(here: Claimant) -> Any:
    return sweep_facts.gather(LeaseWorld(here.parts, agents=[])).attempts


@pytest.mark.parametrize("verb", ["assign", "stop", "retry"])
def test_what_is_closed_is_refused(two: Claimant, verb: str) -> None:
    two.tracker.change(1, IssueChange(state="closed"), ADA)
    act = do(two, verb, "worker-2" if verb == "assign" else "")
    assert (act.fate, act.words) == ("refused", "The issue is closed.")


def test_an_answer_to_nothing_is_refused(two: Claimant) -> None:
    act = do(two, "answer", "E-9999", "Yes")
    assert (act.command, act.fate) == ("/agent answer E-9999", "refused")
    assert act.words == "There is no question E-9999."


@pytest.mark.slow
def test_what_changed_hands_meanwhile_is_decided_by_the_next_sync(
    one: Claimant, two: Claimant
) -> None:
    one.claim(1)
    one.sync()
    two.sync()

    def come_back() -> None:
        one.release(1)
        one.claim(1)

    locks: Any = Rival(two.locks, "acquire", come_back)
    with pytest.raises(UnknownError):
        execute(order(two, Command("assign", "worker-2"), locks=locks))
    do(two, "assign", "worker-2")
    assert held(two) == ("worker-2", 3)


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("verb", ["assign", "stop", "retry"])
def test_killed_at_any_write_the_same_command_finishes_what_was_begun(
    team: Team, one: Claimant, two: Claimant, verb: str, after: bool
) -> None:
    command = Command(verb, "worker-2" if verb == "assign" else "")
    one.claim(1)
    one.sync()
    two.sync()
    team.silence(DEAD, two)
    for at in range(1, 30):
        doom = Doom(at, after=after)
        store: Any = Doomed(two.store, doom)
        locks: Any = Doomed(two.locks, doom)
        tracker: Any = Doomed(LocalTracker(two.ws, store, locks), doom)
        try:
            execute(order(two, command, store=store, locks=locks, tracker=tracker))
        except Killed:
            continue
        break
    holder = "worker-2" if verb == "assign" else None
    assert held(two)[0] == holder
    assert two.assignees(1) == ((holder,) if holder else ())
    assert len(handoffs(two)) == 1
    assert [event for event, *_ in two.story(1)] == ["claim", "release"]
    assert len(two.locks.history("issue/1")) == 2
