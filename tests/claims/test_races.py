"""Races for issues: many processes on several clones, one winner, and nobody left in the dark."""

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ghp_agents.presence import same_name
from ghp_agents.wiring import App
from tests.locks.racer import race, start, stop
from tests.support.fork_server import Forked
from tests.support.ghp import Result, invoke, run_ghp, succeed
from tests.support.git import git, run_git
from tests.support.smart_http import Cut, SmartHost, serve
from tests.support.thorough import count, mostly_slow

Clones = Callable[[int], list[Path]]
CLONES, AGENTS, ROUNDS = 5, count(10, sample=4), count(20, sample=2)
WAITS = r"(?:Waiting for .+ Ctrl-C ends it\.\n)*"  # on a busy machine
HELD = re.compile(WAITS + r"Error: #(\d+) is claimed by (\S+) since \S+[;.]")


class Course:
    """Clones around a remote, all of which know the same issues, and agents that stand ready."""

    def __init__(self, clones: Sequence[Path], remote: Path, issues: int) -> None:
        self.clones = clones
        self.remote = remote
        first, *others = clones
        for number in range(issues):
            assert invoke(f"agent-issue new 'Race {number + 1}'", first).code == 0
        for clone in (first, *others):
            assert invoke("agent-sync", clone).code == 0
        self.racers: dict[str, Forked] = {}

    def line_up(self, agents: int) -> None:
        """Bring so many agents of each clone to the start."""
        for index, clone in enumerate(self.clones):
            for number in range(agents):
                name = f"w-{index}-{number}"
                self.racers[name] = start(clone, name)

    def holder(self, issue: int) -> str | None:
        """Who has it, as the remote has it; None if nobody ever claimed it."""
        shown = run_git(self.remote, "show", f"refs/ghp/lease/issue/{issue}:lease.json")
        if shown.returncode != 0:
            return None
        lease = json.loads(shown.stdout)
        assert lease["generation"] == 1
        return str(lease["holder"])

    def leases(self, issue: int) -> int:
        """How many leases the right has had."""
        return int(git(self.remote, "rev-list", "--count", f"refs/ghp/lease/issue/{issue}"))


def winner(results: dict[str, Result], issue: int) -> str:
    """The one who won; all others were refused, and told who that is."""
    won = [name for name, result in results.items() if result.code == 0]
    assert len(won) == 1, results
    for name, result in results.items():
        if name != won[0]:
            match = HELD.match(result.err)
            assert (result.code, result.out) == (3, ""), (name, result)
            assert match, (name, result)
            assert (match[1], match[2]) == (str(issue), won[0])
    return won[0]


@pytest.fixture
def host(remote: Path) -> Iterator[SmartHost]:
    """The remote as a host that speaks smart HTTP."""
    with serve(remote).running() as host:
        yield host


def over(transport: str, clones: Clones, remote: Path, host: SmartHost) -> list[Path]:
    """Clones that reach the remote in one of two ways."""
    folders = clones(CLONES)
    address = remote.as_uri() if transport == "file" else f"{host.address}/{remote.name}"
    for clone in folders:
        git(clone, "remote", "set-url", "origin", address)
    return folders


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("transport", ["file", "http"])
def test_many_processes_on_five_clones_race_again_and_again_and_each_time_one_wins(
    clones: Clones, remote: Path, host: SmartHost, transport: str
) -> None:
    course = Course(over(transport, clones, remote, host), remote, ROUNDS)
    course.line_up(AGENTS)
    try:
        winners = [winner(race(course.racers, issue), issue) for issue in range(1, ROUNDS + 1)]
    finally:
        stop([*course.racers.values()])
    assert len(course.racers) == CLONES * AGENTS
    assert winners == [course.holder(issue) for issue in range(1, ROUNDS + 1)]
    assert [course.leases(issue) for issue in range(1, ROUNDS + 1)] == [1] * ROUNDS
    for clone in course.clones:
        invoke("agent-sync", clone)
    for clone in course.clones:
        invoke("agent-sync", clone)
        shown = json.loads(invoke("agent-issues --json", clone).out)
        assert [x["claim"]["holder"] for x in shown] == winners
        assert [x["assignees"] for x in shown] == [[name] for name in winners]


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["file", "http"])
def test_many_whole_programs_started_at_once_have_one_winner(
    clones: Clones, remote: Path, host: SmartHost, transport: str
) -> None:
    course = Course(over(transport, clones, remote, host), remote, 1)
    agents = count(50, sample=20)
    names = {f"w-{number}": course.clones[number % CLONES] for number in range(agents)}

    def run(name: str) -> Result:
        return run_ghp(f"agent-claim 1 --as {name}", names[name], timeout=120)

    with ThreadPoolExecutor(len(names)) as pool:
        results = dict(zip(names, pool.map(run, names), strict=True))
    assert winner(results, 1) == course.holder(1)
    assert course.leases(1) == 1


@pytest.mark.slow
@pytest.mark.cases(2)
@pytest.mark.parametrize("cut", mostly_slow(Cut, every=4))
def test_where_connections_break_nobody_is_told_a_lie(
    clones: Clones, remote: Path, host: SmartHost, cut: Cut
) -> None:
    rounds = count(3, sample=2)
    course = Course(over("http", clones, remote, host), remote, rounds)
    course.line_up(count(3, sample=2))
    try:
        for issue in range(1, rounds + 1):
            host.cut(*[cut] * 6)
            broken = race(course.racers, issue)
            assert host.cuts_left < 6
            host.cut()
            before = course.holder(issue)
            _check_truth(broken, issue, before)
            again = race(course.racers, issue)
            assert winner(again, issue) == course.holder(issue)
            assert before in (None, course.holder(issue))  # no winner is lost
            assert course.leases(issue) == 1  # and none invented
    finally:
        stop([*course.racers.values()])


def _check_truth(results: dict[str, Result], issue: int, holder: str | None) -> None:
    """Each was told the truth, or that it is not known."""
    for name, result in results.items():
        if result.code == 0:
            assert name == holder
        elif result.code == 3:
            match = HELD.match(result.err)
            assert match, result
            assert (match[1], match[2]) == (str(issue), holder)
        else:
            assert result.code == 4, (name, result)
            assert re.match(WAITS + "Error: The ", result.err), result


@pytest.mark.slow
@pytest.mark.parametrize("cut", mostly_slow(Cut, every=4))
def test_who_claims_while_the_host_goes_down_hears_4_and_later_the_truth(
    clones: Clones, remote: Path, host: SmartHost, cut: Cut
) -> None:
    one, other = over("http", clones, remote, host)[:2]
    course = Course([one, other], remote, 1)
    for clone, name in ((one, "worker-1"), (other, "worker-2")):
        same_name.take(App(clone, os.environ, name=name), name)
        succeed(clone, f"agent-heartbeat --as {name}")
    host.cut(cut, down=True)
    lost = invoke("agent-claim 1 --as worker-1", one)
    assert (lost.code, lost.out) == (4, "")
    assert lost.err.startswith(
        "Error: The connection to origin broke while issue/1 was being changed; the change may or "
        "may not have happened: "
    )
    assert invoke("agent-claim 1 --as worker-2", other).code == 4
    written = cut in (Cut.AFTER, Cut.HALF_WORD)
    assert course.holder(1) == ("worker-1" if written else None)
    host.is_down = False
    late = invoke("agent-claim 1 --as worker-2", other)
    assert late.code == (3 if written else 0)
    first = invoke("agent-claim 1 --as worker-1", one)
    assert first.code == (0 if written else 3)
    if written:
        assert "You already hold" in first.err
        assert "Restored its missing assignment." in first.err
    assert course.leases(1) == 1


@pytest.mark.parametrize("cut", [*Cut])
@pytest.mark.slow
def test_a_connection_that_breaks_once_costs_no_second_claim_and_no_answer(
    clones: Clones, remote: Path, host: SmartHost, cut: Cut
) -> None:
    (clone,) = over("http", clones, remote, host)[:1]
    course = Course([clone], remote, 1)
    host.cut(cut)
    assert invoke("agent-claim 1 --as worker-1", clone) == (0, "1\n", "✓ Claimed #1 «Race 1».\n")
    assert (course.holder(1), course.leases(1), host.cuts_left) == ("worker-1", 1, 0)


@pytest.mark.slow
def test_a_racer_says_what_the_program_says(clones: Clones, remote: Path) -> None:
    course = Course(clones(1), remote, 1)
    course.line_up(1)
    assert course.racers["w-0-0"].pid != os.getpid()
    results = race(course.racers, 9)
    stop([*course.racers.values()])
    assert results["w-0-0"] == run_ghp("agent-claim 9 --as w-0-0", course.clones[0])
