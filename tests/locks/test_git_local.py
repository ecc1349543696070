"""Rights that the clone decides alone: many processes, and processes that are killed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ghp_agents.core.clock import SystemClock
from ghp_agents.core.errors import GhpError
from ghp_agents.locks.git import GitLocks
from ghp_agents.locks.lock import LockMovedError
from ghp_agents.workspace import open_workspace
from tests.support.ghp import CHECKOUT
from tests.support.git import git
from tests.support.hosts import workspace

# A process that counts with a right and says each number once it has it.
COUNTER = """
import os, sys
from pathlib import Path
from ghp_agents.locks.git import GitLocks
from ghp_agents.locks.lock import LockMovedError
from ghp_agents.workspace import open_workspace

locks = GitLocks(open_workspace(Path.cwd(), os.environ))
current = locks.read("numbers")
for _ in range(int(sys.argv[2])):
    while True:
        try:
            current = locks.acquire("numbers", sys.argv[1], expected=current)
            break
        except LockMovedError as moved:
            current = moved.current
    print(current.generation, flush=True)
"""


def counter(repo: Path, who: str, times: int) -> "subprocess.Popen[str]":
    """A counting process."""
    return subprocess.Popen(
        [sys.executable, "-c", COUNTER, who, str(times)],
        cwd=repo,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_processes_that_count_with_one_right_never_get_one_number_twice(repo: Path) -> None:
    processes = [counter(repo, f"worker-{number}", 5) for number in range(6)]
    got = [int(line) for process in processes for line in process.communicate()[0].split()]
    assert [process.returncode for process in processes] == [0] * 6
    assert sorted(got) == list(range(1, 31))
    private = repo / ".git/ghp/state.git"
    assert git(private, "rev-list", "--count", "refs/ghp/lease/numbers") == "30"


def test_a_ref_lock_that_a_killed_process_left_is_healed_at_once(repo: Path) -> None:
    locks = GitLocks(workspace(repo))
    taken = locks.acquire("issue/12", "worker-1", expected=None)
    left = repo / ".git/ghp/state.git/refs/ghp/lease/issue/12.lock"
    left.write_bytes(b"")
    began = SystemClock().now()
    free = locks.release("issue/12", expected=taken)
    assert SystemClock().now() - began < 1.0
    assert not left.exists()
    assert locks.read("issue/12") == free


def test_the_memory_of_a_right_of_the_remotes_heals_a_ref_lock_too(clone: Path) -> None:
    locks = GitLocks(workspace(clone))
    taken = locks.acquire("trunk", "worker-1", expected=None)
    left = clone / ".git/ghp/state.git/refs/ghp/lease/trunk.lock"
    left.write_bytes(b"")
    free = locks.release("trunk", expected=taken)
    assert not left.exists()
    git(clone, "remote", "remove", "origin")
    assert GitLocks(workspace(clone)).read("trunk") == free


@pytest.mark.slow
def test_without_the_lock_file_the_comparison_of_the_ref_decides_alone(repo: Path) -> None:
    locks = GitLocks(workspace(repo))
    taken = locks.acquire("numbers", "worker-1", expected=None)
    lock = repo / ".git/ghp/lease.lock"
    lock.unlink()
    lock.mkdir()  # no process can lock it
    processes = [counter(repo, f"worker-{number}", 5) for number in range(4)]
    got = [int(line) for process in processes for line in process.communicate()[0].split()]
    assert sorted(got) == list(range(2, 22))
    with pytest.raises(LockMovedError):
        locks.release("numbers", expected=taken)


@pytest.mark.slow
def test_a_held_ref_that_does_not_move_is_an_error_and_nobodys_gain(repo: Path) -> None:
    locks = GitLocks(workspace(repo))
    taken = locks.acquire("trunk", "worker-1", expected=None)
    lock = repo / ".git/ghp/lease.lock"
    lock.unlink()
    lock.mkdir()
    (repo / ".git/ghp/state.git/refs/ghp/lease/trunk.lock").write_bytes(b"")
    with pytest.raises(GhpError, match="Another process is changing trunk"):
        locks.release("trunk", expected=taken)
    assert locks.read("trunk") == taken


def killed_after(repo: Path, who: str, heard: int) -> int:
    """The last number that a counting process got before it was killed, some time after it said
    `heard` of them."""
    with counter(repo, who, 1_000) as process:
        assert process.stdout is not None
        printed = [int(process.stdout.readline()) for _ in range(heard)]
        process.kill()
        return max([0, *printed, *(int(line) for line in process.stdout)])


def one_more(repo: Path) -> int:
    """The number that the next process gets."""
    locks = GitLocks(open_workspace(repo, os.environ))
    current = locks.read("numbers")
    while True:
        try:
            return locks.acquire("numbers", "worker-2", expected=current).generation
        except LockMovedError as moved:  # the killed one's git had the lock, and ended its work
            current = moved.current


@pytest.mark.parametrize("heard", [0, 1, 4])
def test_what_a_killed_process_was_told_is_so_and_the_next_goes_on(repo: Path, heard: int) -> None:
    last = killed_after(repo, "worker-1", heard)
    assert one_more(repo) in (last + 1, last + 2)  # it may have died before it could say one
    assert git(repo / ".git/ghp/state.git", "fsck", "--strict", "--no-dangling") == ""


@pytest.mark.slow
def test_sixty_kills_lose_nothing_and_leave_nothing_that_stops_the_next(repo: Path) -> None:
    last = 0
    for number in range(60):
        printed = killed_after(repo, f"worker-{number}", number % 4)
        assert printed == 0 or printed > last
        last = max(last, printed)
        now = one_more(repo)
        assert now in (last + 1, last + 2)
        last = now
    private = repo / ".git/ghp/state.git"
    assert git(private, "fsck", "--strict", "--no-dangling") == ""
    assert git(private, "rev-list", "--count", "refs/ghp/lease/numbers") == str(last)
    assert list(private.glob("refs/**/*.lock")) == []
