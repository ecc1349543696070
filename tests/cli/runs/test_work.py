"""`agent-work` as a person starts it: a real supervisor, scripted clients, and nothing left."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ghp_agents.runs import processes
from tests.support.boxes import UNBOXED
from tests.support.ghp import invoke, run_ghp
from tests.support.runs import Shift, shift_of, states, without_ids

FINISHES = f"""
echo "I write."
echo new > new.txt; git add . >/dev/null; git commit -qm "Add a file"
{sys.executable} -m ghp_agents agent-finish >/dev/null 2>&1
echo "I have finished."
"""
STAYS = "echo on; sleep 1000"


@pytest.fixture
def shift(repo: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shift]:
    monkeypatch.setenv("GHP_BACKGROUND", "0")
    fleet = shift_of(repo, "One")
    yield fleet
    fleet.end_all()


def script(shift: Shift, text: str) -> str:
    path = shift.repo.parent / "agent.sh"
    path.write_text(text)
    return f"sh {path} {{prompt_file}}"


def start(shift: Shift, text: str, *args: str) -> "subprocess.Popen[str]":
    """A supervisor in a process of its own."""
    runner = script(shift, text)
    command = [sys.executable, "-m", "ghp_agents", "agent-work", "--agent", "night"]
    return subprocess.Popen(
        [*command, "--runner", runner, *args], cwd=shift.repo, stderr=subprocess.PIPE, text=True
    )


def began(supervisor: "subprocess.Popen[str]") -> None:
    """Read its lines until a run has begun or goes on."""
    assert supervisor.stderr
    while "R-" not in supervisor.stderr.readline():
        assert supervisor.poll() is None


def end(supervisor: "subprocess.Popen[str]", number: signal.Signals) -> int:
    supervisor.send_signal(number)
    with supervisor:
        supervisor.communicate(timeout=60)
    return supervisor.returncode


@pytest.mark.slow
def test_from_an_issue_to_a_pull_request(shift: Shift) -> None:
    args = ["agent-work", "--agent", "night", "--once", "--runner", script(shift, FINISHES)]
    done = run_ghp(args, shift.repo)
    assert (done.code, without_ids(done.err.splitlines())) == (
        0,
        [
            UNBOXED,
            "1 agent with sh: night.",
            "+ night began R- #1 «One».",
            "+ night ended R- #1: finished: pull request #2.",
        ],
    )
    assert "#2    open   #1" in invoke("agent-pulls", shift.repo).out
    logs = invoke("agent-logs night", shift.repo)
    assert logs.out == "I write.\nI have finished.\n"
    assert processes.marked(shift.last().id) == []


@pytest.mark.slow
def test_an_issue_that_was_given_up_is_exit_code_1(shift: Shift) -> None:
    args = "agent-work --agent night --once --runner 'sh /no/such {prompt_file}'"
    supervisor = invoke(args, shift.repo, clock=shift.clock)
    assert (supervisor.code, states(shift.runs())) == (
        1, [("night", 1, "failed"), ("night", 1, "escalated")],
    )  # fmt: skip
    assert shift.last().why.startswith("it exited with code 2: sh: ")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_runs_and_keeps_the_claims(shift: Shift, number: signal.Signals) -> None:
    supervisor = start(shift, STAYS)
    began(supervisor)
    assert end(supervisor, number) == 0
    assert states(shift.runs()) == [("night", 1, "interrupted")]
    assert processes.marked(shift.last().id) == []
    assert "night" in invoke("agent-issues", shift.repo).out


@pytest.mark.slow
def test_a_killed_supervisor_is_continued_by_the_next_one(shift: Shift) -> None:
    first = start(shift, STAYS)
    began(first)
    shift.spoke()
    end(first, signal.SIGKILL)
    assert processes.lives(shift.last())
    second = start(shift, "exit 1")
    began(second)
    assert len(shift.runs()) == 1
    assert end(second, signal.SIGINT) == 0
    assert states(shift.runs()) == [("night", 1, "interrupted")]
    assert processes.marked(shift.last().id) == []


@pytest.mark.slow
def test_two_supervisors_do_not_share_an_agent(shift: Shift) -> None:
    first = start(shift, STAYS)
    began(first)
    done = run_ghp("agent-work --agent night --runner 'sh {prompt_file}'", shift.repo)
    assert done.code == 3
    assert "Another `ghp agent-work` in this clone supervises night." in done.err
    end(first, signal.SIGTERM)


def test_a_run_starts_no_other_runs(shift: Shift) -> None:
    done = invoke("agent-work", shift.repo, env={"GHP_RUN": "0123456789ab"})
    assert done.code == 3
    assert "It cannot start others." in done.err


def test_an_issue_is_no_option_of_a_client(shift: Shift) -> None:
    done = invoke("agent-work 12", shift.repo)
    assert done.code == 2
    assert "`ghp agent-start 12 --run claude`" in done.err


def test_a_client_that_is_missing_starts_nothing(shift: Shift) -> None:
    done = invoke("agent-work", shift.repo, env={"PATH": os.fspath(shift.repo)})
    assert done.code == 5
    assert "`claude` is not installed" in done.err
    assert shift.runs() == []


@pytest.mark.slow
def test_a_closed_terminal_ends_the_runs(shift: Shift) -> None:
    supervisor = start(shift, STAYS)
    began(supervisor)
    assert supervisor.stderr
    supervisor.stderr.close()
    supervisor.send_signal(signal.SIGHUP)
    supervisor.wait(60)
    assert states(shift.runs()) == [("night", 1, "interrupted")]
    assert processes.marked(shift.last().id) == []


@pytest.mark.slow
def test_a_program_of_this_folder_is_meant_from_this_folder(shift: Shift) -> None:
    path = shift.repo / "agent.sh"
    path.write_text(f"#!/bin/sh\n{FINISHES}")
    path.chmod(0o700)
    args = ["agent-work", "--agent", "night", "--once", "--runner", "./agent.sh {prompt_file}"]
    assert run_ghp(args, shift.repo).code == 0
    assert states(shift.runs()) == [("night", 1, "finished")]


def test_once_ends_if_there_is_no_work(shift: Shift) -> None:
    invoke("agent-issue close 1 --reason Obsolete --as @me", shift.repo)
    args = "agent-work --agent night --once --runner 'sh {prompt_file}'"
    done = invoke(args, shift.repo, clock=shift.clock)
    assert (done.code, shift.runs()) == (0, [])
