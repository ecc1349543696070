"""Who sets a machine's clock takes nothing from anybody: what is measured goes by another one."""

import os
import subprocess
from pathlib import Path

import pytest

from ghp_agents.core.clock import SystemClock
from ghp_agents.hotpath import alive as living
from ghp_agents.hotpath import heartbeat as pulse
from tests.support.machines import Machine
from tests.support.repos import Restored, Site

HOUR = 3_600.0


@pytest.fixture
def machines(restored: Restored) -> tuple[Machine, Machine]:
    """Alice has claimed #1, leased src/ for all clones, and beats; Bob has heard of it."""
    first, second = restored(claimed).clones
    return Machine(first, "alice"), Machine(second, "bob")


def claimed(site: Site) -> None:
    first, second = site.make_clones()
    alice, bob = Machine(first, "alice"), Machine(second, "bob")
    alice.does("agent-issue new 'Parse dates'")
    alice.does("agent-claim 1")
    alice.does("agent-lease src/ --strict")
    alice.beat("Reads")
    bob.beat("Looks")
    bob.status()


def both_wait(machines: tuple[Machine, Machine], seconds: float) -> None:
    for machine in machines:
        machine.clock.wait(seconds)


@pytest.mark.slow
@pytest.mark.parametrize("step", [HOUR, -25 * HOUR])
def test_an_observer_whose_clock_is_set_takes_nothing_from_the_living(
    machines: tuple[Machine, Machine], step: float
) -> None:
    alice, bob = machines
    bob.clock.step(step)
    both_wait(machines, 20)
    bob.sync()
    assert bob.liveness("alice") == "active"
    assert bob.run("agent-claim 1").code == 3
    assert bob.run("agent-lease src/ --strict").code == 3
    both_wait(machines, 20)
    bob.clock.step(-step)
    bob.sync()
    assert bob.liveness("alice") == "active"
    assert bob.run("agent-claim 1").code == 3
    alice.does("agent-check src/a.py")


@pytest.mark.slow
def test_a_dead_agent_is_found_dead_however_the_clock_is_set(
    machines: tuple[Machine, Machine],
) -> None:
    _, bob = machines
    for step in (HOUR, -3 * HOUR, HOUR):
        bob.clock.step(step)
        bob.clock.wait(601)
        bob.sync()
    assert bob.liveness("alice") == "dead"
    assert bob.run("agent-claim 1").code == 0


@pytest.mark.slow
def test_a_machine_that_was_started_anew_begins_to_observe_anew(
    machines: tuple[Machine, Machine],
) -> None:
    _, bob = machines
    bob.clock.wait(1_500)
    bob.sync()
    assert bob.liveness("alice") == "stale"
    bob.clock.restart()
    bob.clock.step(HOUR)
    assert bob.liveness("alice") == "active", "nothing was heard since"
    bob.clock.wait(HOUR)
    assert bob.liveness("alice") == "active", "nor since then"
    bob.sync()
    bob.clock.wait(1_801)
    bob.sync()
    assert bob.liveness("alice") == "dead"


@pytest.mark.slow
@pytest.mark.parametrize("step", [25 * HOUR, -HOUR])
def test_agents_of_a_machine_whose_clock_is_set_go_on_living(
    machines: tuple[Machine, Machine], step: float
) -> None:
    alice, _ = machines
    carol = Machine(alice.folder, "carol")
    carol.clock = alice.clock
    alice.clock.step(step)
    alice.clock.wait(30)
    assert carol.liveness("alice") == "active"
    assert carol.run("agent-claim 1").code == 3
    alice.clock.wait(1_800)
    assert carol.liveness("alice") == "dead"


@pytest.mark.parametrize("step", [HOUR, -HOUR, 0.0])
def test_the_fast_road_measures_a_beat_by_the_clock_that_nobody_sets(
    tmp_path: Path, step: float
) -> None:
    folders, wall = [str(tmp_path)], 1_750_000_000.0
    boot, seconds = SystemClock().interval()
    pulse.beat(folders, "alice", {}, wall, epoch=1, moment=(boot, seconds - 100))
    os.utime(tmp_path / "agents/alice.json", (wall, wall))
    assert living.lives(folders, "alice", wall + 100 + step, 200.0, 900.0) is True
    assert living.lives(folders, "alice", wall + 100 + step, 50.0, 900.0) is False


@pytest.mark.slow
def test_a_strict_lease_is_taken_over_only_after_two_looks(
    machines: tuple[Machine, Machine],
) -> None:
    _, bob = machines
    bob.clock.wait(1_801)
    bob.sync()
    first = bob.run("agent-lease src/ --strict")
    assert first.code == 3
    assert "is leased by alice, which looks dead, since" in first.err
    assert "Run `ghp agent-sync` after 10 seconds, then try again." in first.err
    bob.clock.wait(60)
    assert bob.run("agent-lease src/ --strict").code == 3, "there was no news in between"
    bob.sync()
    assert bob.run("agent-lease src/ --strict").code == 0


@pytest.mark.slow
def test_a_sign_of_life_between_two_looks_ends_the_doubt(
    machines: tuple[Machine, Machine],
) -> None:
    alice, bob = machines
    bob.clock.wait(1_801)
    bob.sync()
    assert bob.run("agent-lease src/ --strict").code == 3
    alice.beat("Is back")
    bob.clock.wait(60)
    bob.sync()
    assert "which looks dead" not in bob.run("agent-lease src/ --strict").err
    bob.clock.wait(1_801)
    bob.sync()
    assert "which looks dead" in bob.run("agent-lease src/ --strict").err


# ------------------------------------------------------------------------- processes that run


@pytest.mark.slow
def test_an_agent_in_a_long_test_run_lives_in_every_clone(
    machines: tuple[Machine, Machine],
) -> None:
    alice, bob = machines
    alice.beat("Runs the tests", GHP_AGENT_PID=str(os.getpid()))
    bob.sync()
    for _ in range(3):
        both_wait(machines, 1_200)
        alice.sync()
        bob.sync()
    assert (alice.liveness("alice"), bob.liveness("alice")) == ("stale", "stale")
    assert bob.run("agent-claim 1").code == 3
    assert bob.run("agent-lease src/ --strict").code == 3
    bob.clock.wait(1_700)
    bob.sync()
    assert bob.liveness("alice") == "stale"
    bob.clock.wait(200)
    bob.sync()
    assert bob.liveness("alice") == "dead", "its machine was silent for longer than it asked for"


@pytest.mark.slow
def test_who_beats_again_needs_nobody_to_vouch(machines: tuple[Machine, Machine]) -> None:
    alice, bob = machines
    alice.beat("Runs the tests", GHP_AGENT_PID=str(os.getpid()))
    both_wait(machines, 900)
    alice.sync()
    bob.sync()
    said = bob.status()["alice"]
    assert (said["processRunsFor"], said["silentFor"]) == (1_800, 900)
    alice.beat("Has run them")
    bob.sync()
    assert bob.status()["alice"].keys() & {"processRunsFor", "silentFor"} == set()


@pytest.mark.slow
def test_a_process_that_was_killed_is_told_to_all(machines: tuple[Machine, Machine]) -> None:
    alice, bob = machines
    ended = subprocess.Popen(["true"])
    ended.wait()
    alice.beat("Works", GHP_AGENT_PID=str(ended.pid))
    both_wait(machines, 400)
    alice.sync()
    bob.sync()
    assert (alice.liveness("alice"), bob.liveness("alice")) == ("dead", "dead")
