"""A clone says that its silent sessions live, although nobody runs a command there."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ghp_agents.core import files
from ghp_agents.core.ids import AgentName
from ghp_agents.messages import service as messages
from ghp_agents.messages.service import Draft
from ghp_agents.presence import service as presence
from ghp_agents.presence import way_in
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import heartbeat
from ghp_agents.sync import process_watch
from tests.support.claimants import Claimant, Team, known
from tests.support.clock import ManualClock
from tests.support.sweeps import kinds, run
from tools.processes import calls_in

HOUR = 3_600.0


class Hours(ManualClock):
    """A clock on which other things happen at given times, in seconds since its beginning."""

    def __init__(self) -> None:
        super().__init__()
        self.begin = self.now()
        self.plan: list[tuple[float, Callable[[], None]]] = []

    @property
    def passed(self) -> float:
        return self.now() - self.begin

    def wait(self, seconds: float) -> None:
        super().wait(seconds)
        while self.plan and self.passed >= self.plan[0][0]:
            self.plan.pop(0)[1]()


@pytest.fixture
def clock() -> Hours:
    return Hours()


@pytest.fixture
def process() -> Iterator["subprocess.Popen[bytes]"]:
    """The process of a session."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as running:
        yield running
        running.kill()


@pytest.fixture
def two(
    clones: Callable[[int], list[Path]],
    remote: Path,
    clock: Hours,
    process: "subprocess.Popen[bytes]",
) -> tuple[Claimant, Claimant]:
    """In the first clone, worker-1 holds an issue, and its process runs; the second sweeps."""
    team = Team(clones, remote)
    team.clock = clock
    one, other = team.join("worker-1"), team.join("worker-2")
    session = {"GHP_SESSION": "s-1", "GHP_AGENT_PID": str(process.pid)}
    one.ws.environ.update(session)  # type: ignore[attr-defined]
    one.new("Parse")
    one.claim(1)
    return one.sync(), other.sync()


def sees(other: Claimant) -> Liveness:
    views = presence.list_agents(other.parts, other.store.snapshot())
    return next(view.liveness for view in views if view.name == "worker-1")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "state", "acts"),
    [
        ("testing", Liveness.STALE, [("Warn", True)]),
        ("waiting", Liveness.ACTIVE, []),  # for its person, or an answer
        ("blocked", Liveness.ACTIVE, []),
    ],
)
def test_a_silent_session_keeps_its_claim_while_its_process_runs(
    two: tuple[Claimant, Claimant],
    clock: Hours,
    process: "subprocess.Popen[bytes]",
    status: str,
    state: Liveness,
    acts: list[tuple[str, bool]],
) -> None:
    one, other = two
    one.beat(status=status)
    one.sync()
    swept: list[list[tuple[str, bool]]] = []
    states: list[Liveness] = []

    def look() -> None:
        swept.append(kinds(run(other)))
        states.append(sees(other))

    def end() -> None:
        process.kill()
        process.wait()

    clock.plan = [*((hours * HOUR, look) for hours in (0.5, 1, 2)), (2.1 * HOUR, end)]
    process_watch.watch(one.parts)
    assert (states, swept) == ([state] * 3, [acts, [], []])
    assert clock.passed <= 2.1 * HOUR + process_watch.LOOK_EVERY  # nobody stays for nobody
    assert known(other) is not None
    one.sync()
    for _ in range(3):  # a dead holder is looked at twice
        clock.wait(HOUR)
        run(other)
    lock = known(other)
    assert lock is not None
    assert lock.holder is None


@pytest.mark.slow
def test_a_resting_session_is_woken_soon_for_a_request_of_another_clone(
    two: tuple[Claimant, Claimant],
    clock: Hours,
    process: "subprocess.Popen[bytes]",
    tmp_path: Path,
) -> None:
    one, other = two
    (tmp_path / "codex").write_text('#!/bin/sh\necho "$@" > "$0.log"\n')
    (tmp_path / "codex").chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    one.ws.environ.update(path)  # type: ignore[attr-defined]
    one.beat(status="waiting")
    way_in.keep(one.ws.home_folder, "worker-1", "codex", "s-1", {})
    woken: list[bool] = []

    def ask() -> None:
        messages.send(other.parts, Draft(["worker-1"], "Review it", kind="review"))
        other.sync()

    def look() -> None:
        woken.append((tmp_path / "codex.log").exists())

    def end() -> None:
        process.kill()
        process.wait()

    clock.plan = [(290.0, look), (300.0, ask), (300.0 + 2 * process_watch.LOOK_EVERY, look)]
    clock.plan += [(600.0, end)]
    process_watch.watch(one.parts)
    assert woken == [False, True]


@pytest.mark.slow
def test_only_one_process_of_a_clone_stays_and_none_without_a_session(
    two: tuple[Claimant, Claimant], clock: Hours
) -> None:
    one, other = two
    before = clock.passed
    process_watch.watch(other.parts)  # worker-2 has no process
    with files.locked(one.ws.ghp_dir / process_watch.LOCK):
        process_watch.watch(one.parts)
    assert clock.passed == before


@pytest.mark.slow
def test_it_ends_when_its_sessions_are_silent_for_too_long(
    two: tuple[Claimant, Claimant], clock: Hours
) -> None:
    one, _ = two
    one.beat(status="testing")
    vars(one.ws)["settings"] = one.ws.settings._replace(gone_after=2 * HOUR)
    process_watch.watch(one.parts)
    assert 0 <= clock.passed - one.ws.settings.gone_after <= 2 * process_watch.LOOK_EVERY


@pytest.mark.slow
def test_ten_idle_sessions_start_few_processes_in_an_hour(
    two: tuple[Claimant, Claimant],
    clock: Hours,
    process: "subprocess.Popen[bytes]",
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Their last steps were 47 s apart, as those of agents that work apart from each other are."""
    one, _ = two
    for number in range(1, 11):
        silent = one.ws.ghp_dir / f"agents/worker-{number}.json"
        heartbeat(one.ws, one.store, AgentName(f"worker-{number}"), {"status": "waiting"})
        os.utime(silent, (clock.now(), clock.now()))
        clock.wait(47)
    one.sync()
    trace = tmp_path / "trace"
    trace.mkdir()
    monkeypatch.setenv("GIT_TRACE2_EVENT", str(trace))
    start, begin = Counter[str](), clock.passed

    def end() -> None:
        process.kill()
        process.wait()

    clock.plan = [(begin + HOUR, end)]
    process_watch.watch(one.parts)
    for words, times in calls_in(trace).own.items():
        start[words.split()[0]] += times
    assert start["fetch"] <= 15
    assert start.total() <= 7 * start["fetch"]
