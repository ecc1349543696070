"""Whoever may push can say anything of an agent. It makes nobody dead, and nobody's work free."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.machines import FORGER, Machine, forge, presence
from tests.support.repos import Restored, Site

Clones = Callable[[int], list[Path]]
LAST = 2**53 - 1  # the highest number that records can have
FORGERIES = {
    "stopped at the highest epoch": presence(LAST, "stopped"),
    "frozen at the highest epoch": presence(LAST, "implementing"),
    "stopped in the next epoch": presence(2, "stopped"),
    "killed in the next epoch": presence(2, "implementing", processRunsFor=0, silentFor=3_600),
}
forgeries = pytest.mark.parametrize("forged", FORGERIES.values(), ids=FORGERIES)


@pytest.fixture
def machines(restored: Restored) -> tuple[Machine, Machine]:
    """Alice has claimed #1 and beats; Bob has heard of it."""
    first, second = restored(claimed).clones
    return Machine(first, "alice"), Machine(second, "bob")


@pytest.fixture
def remote(machines: tuple[Machine, Machine]) -> Path:
    """The remote of their clones."""
    return machines[0].folder.parent / "remote.git"


def claimed(site: Site) -> None:
    first, second = site.make_clones()
    alice, bob = Machine(first, "alice"), Machine(second, "bob")
    alice.does("agent-issue new 'Parse dates'")
    alice.does("agent-claim 1")
    alice.beat("Reads")
    bob.beat("Looks")
    bob.status()


def pass_time(alice: Machine, bob: Machine, minutes: int) -> None:
    """Alice beats every twenty minutes, and all is exchanged."""
    for minute in range(20, minutes + 1, 20):
        for machine in (alice, bob):
            machine.clock.wait(1_200)
        alice.beat(f"Worked for {minute} minutes")
        bob.sync()


@pytest.mark.slow
@forgeries
def test_a_claim_stays_with_its_holder_whatever_others_say_of_it(
    machines: tuple[Machine, Machine], remote: Path, forged: dict[str, object]
) -> None:
    alice, bob = machines
    forge(remote, {"alice": forged})
    bob.sync()
    assert bob.liveness("alice") == "active"
    refused = bob.run("agent-claim 1")
    assert (refused.code, "#1 is claimed by alice" in refused.err) == (3, True)
    pass_time(alice, bob, 40)
    assert bob.liveness("alice") == "active"
    assert bob.run("agent-claim 1").code == 3


@pytest.mark.slow
@forgeries
def test_what_an_agent_is_given_is_its_own_whatever_others_say_of_it(
    machines: tuple[Machine, Machine], remote: Path, forged: dict[str, object]
) -> None:
    alice, bob = machines
    bob.does("agent-issue new 'Parse times'")
    bob.does("agent-claim 2")
    forge(remote, {"alice": forged})
    bob.sync()
    bob.does("agent-release 2 --to alice")
    alice.sync()
    assert alice.run("agent-check --verify").code == 0
    alice.does("agent-issue close 2 --reason Merged")


@pytest.mark.slow
def test_a_forged_presence_that_stands_still_lets_no_agent_steal(
    machines: tuple[Machine, Machine], remote: Path
) -> None:
    alice, bob = machines
    forge(remote, {"alice": presence(2, "implementing", processRunsFor=9_999, silentFor=900)})
    bob.sync()
    for machine in machines:
        machine.clock.wait(700)
    alice.beat("Still here")
    bob.sync()
    assert bob.run("agent-claim 1 --steal --reason 'alice is silent'").code == 3
    for machine in machines:
        machine.clock.wait(700)
    bob.does("agent-claim 1 --steal --reason 'alice is silent'")


@pytest.mark.slow
def test_a_clone_believes_itself_of_its_own_agents(
    machines: tuple[Machine, Machine], remote: Path
) -> None:
    alice, bob = machines
    for number, forged in enumerate(FORGERIES.values()):
        forge(remote, {"alice": forged}, f"{number}{FORGER[1:]}")
    alice.sync()
    shown = alice.status()["alice"]
    assert (shown["lastAction"], shown["epoch"], shown["issue"]) == ("Reads", 1, 1)
    pass_time(alice, bob, 40)
    assert alice.liveness("alice") == "active"
    assert alice.status()["alice"]["lastAction"] == "Worked for 40 minutes"


@pytest.mark.slow
@pytest.mark.parametrize("epoch", [LAST, 1_000_002])
def test_an_epoch_that_no_life_can_have_is_a_problem_and_no_fact(
    machines: tuple[Machine, Machine], remote: Path, epoch: int
) -> None:
    alice, bob = machines
    forge(remote, {"alice": presence(epoch, "stopped"), "carol": presence(epoch, "idle")})
    bob.sync()
    assert bob.status()["alice"]["epoch"] == 1
    assert "carol" not in bob.status()
    told = bob.run("agent-doctor").out
    assert f"alice has the impossible epoch {epoch}" in told
    assert FORGER in told
    alice.does("agent-heartbeat", GHP_SESSION="one")
    alice.does("agent-heartbeat", GHP_SESSION="two")
    assert alice.status()["alice"]["epoch"] == 2


@pytest.mark.slow
def test_an_agent_starts_again_above_an_epoch_that_it_could_have_reached(
    machines: tuple[Machine, Machine], remote: Path
) -> None:
    alice, bob = machines
    forge(remote, {"alice": presence(900_000, "stopped")})
    alice.beat("Is here", GHP_SESSION="one")
    alice.beat("Starts again", GHP_SESSION="two")
    bob.sync()
    assert bob.status()["alice"]["epoch"] == alice.status()["alice"]["epoch"] == 900_001


@pytest.mark.slow
def test_an_agent_that_moves_goes_on_where_it_is_and_that_is_told(
    machines: tuple[Machine, Machine], clones: Clones
) -> None:
    alice, bob = machines
    moved = Machine(clones(1)[0], "alice")
    alice.does("agent-heartbeat --status stopped")
    alice.sync()
    bob.sync()
    assert bob.liveness("alice") == "stopped"
    moved.sync()
    moved.beat("Goes on elsewhere")
    told = bob.sync()
    assert bob.status()["alice"]["lastAction"] == "Goes on elsewhere"
    assert "alice moved from clone" in told
    assert "If you did not start it there, somebody else uses its name." in told
    assert "alice moved from clone" not in bob.sync(), "it is told once"
    assert "alice moved from clone" in bob.run("agent-doctor").out
    moved.does("agent-claim 1 --steal --reason 'I went on here'")


@pytest.mark.slow
def test_a_name_that_another_clone_uses_is_told(
    machines: tuple[Machine, Machine], remote: Path
) -> None:
    _, bob = machines
    forge(remote, {"alice": presence(2, "implementing")})
    assert f"to clone {FORGER}. " in bob.sync()
