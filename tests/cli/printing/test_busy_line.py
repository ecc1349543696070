"""The line of a command that takes long: its text, and how Ctrl-C ends the work below it."""

import os
import sys
from pathlib import Path

import pytest

from ghp_agents.cli.printing.busy_line import duration
from tests.support.ghp import CHECKOUT, invoke
from tests.support.git import commit, git
from tests.support.road import Road
from tests.support.terminal import Terminal, terminal

SLOW = "echo one; echo two; echo $$ > {pid}; sleep 600 & wait"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-1, "0 s"), (9.9, "9 s"), (75, "1 min 15 s"), (3_600, "1 h 0 min"), (7_385, "2 h 3 min")],
)
def test_a_duration_shows_that_time_passes(seconds: float, text: str) -> None:
    assert duration(seconds) == text


# ------------------------------------------------------------------------------ Ctrl-C


@pytest.fixture
def road(repo: Path, monkeypatch: pytest.MonkeyPatch) -> Road:
    """Work of worker-1."""
    monkeypatch.setenv("GHP_BACKGROUND", "0")
    road = Road(repo)
    road.issue("Parse files")
    commit(road.start("worker-1", 1).path, {"a.txt": "a\n"}, "Work on 1")
    return road


def interrupt(command: str, folder: Path, pid: Path) -> None:
    """Run a command at a terminal, and press Ctrl-C while its check runs; it ends as aborted."""
    python = [sys.executable, "-P", "-m", "ghp_agents", *command.split()]
    # The first to open the terminal gets its Ctrl-C.
    script = 'exec <"$(tty)"; trap : INT; "$@"; echo "code $?"'
    shell = ["/bin/sh", "-c", script, "sh", *python]
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    with terminal(shell, folder, env, 80) as screen:
        screen.wait_for("s  ")
        screen.wait_for("two")
        _wait_for_file(screen, pid)
        screen.type("\x03")
        screen.wait_for("Aborted.\r\ncode 130")
    assert "\r\x1b[K\r\nAborted." in screen.shown, "the line is gone"


def _wait_for_file(screen: Terminal, pid: Path) -> None:
    while not (pid.exists() and pid.read_text().strip()):
        screen.wait_for(" s")  # the line is drawn again each second


def is_alive(pid: Path) -> bool:
    try:
        os.kill(int(pid.read_text()), 0)
    except ProcessLookupError:
        return False
    return True


def scratch(repo: Path) -> list[str]:
    """Worktrees that are neither the main one nor an agent's."""
    lines = git(repo, "worktree", "list", "--porcelain").splitlines()
    return [line for line in lines if line.startswith("worktree ") and "landing-" in line]


@pytest.mark.slow
def test_ctrl_c_ends_the_checks_of_finish_and_leaves_nothing(road: Road, tmp_path: Path) -> None:
    place, pid = road.place("agent/worker-1/1-parse-files"), tmp_path / "pid"
    road.configure({"checks": [SLOW.format(pid=pid)]})
    before = git(place, "rev-parse", "HEAD")
    interrupt("agent-finish --as worker-1", place, pid)
    assert not is_alive(pid)
    assert scratch(road.folder) == []
    assert git(place, "rev-parse", "HEAD^1") == before, "main was merged, as a step of its own"
    assert git(place, "status", "--porcelain") == ""
    assert invoke("agent-pulls --json", road.folder, clock=road.clock).out == "[]\n"


@pytest.mark.slow
def test_ctrl_c_ends_the_checks_of_a_queue_and_frees_the_lock(road: Road, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    place = road.place("agent/worker-1/1-parse-files")
    road.finish("worker-1", place)
    road.configure({"checks": [SLOW.format(pid=pid)]})
    tip = road.tip
    interrupt("agent-merge --queue --as lead", road.folder, pid)
    assert not is_alive(pid)
    assert (scratch(road.folder), road.tip) == ([], tip)
    road.configure({"checks": ["true"]})
    merged = invoke("agent-merge --queue --as lead", road.folder, clock=road.clock)
    assert (merged.code, merged.out) == (0, "2\n")
