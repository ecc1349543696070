"""Who holds a lock, in words: the process that took it, or the child that it left it to."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ghp_agents.core import files
from ghp_agents.state.git.admin.lock_owner import holder

TAKE = """\
import fcntl, os, subprocess, sys
held = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.flock(held, fcntl.LOCK_EX)
child = [sys.executable, "-c", "import sys; print('held', flush=True); sys.stdin.read()"]
if "leave" in sys.argv:
    subprocess.Popen(child, pass_fds=[held])
else:
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    """A lock that is held by this process, on a machine that tells so."""
    path = tmp_path / "state.lock"
    with files.locked(path):
        if files.lock_holder(path) != os.getpid():
            pytest.skip(reason="this machine's /proc/locks does not list locks with their process")
    return path


def take(lock: Path, *words: str) -> "subprocess.Popen[bytes]":
    """A process that takes the lock, and leaves it to its child if it is told to."""
    command = [sys.executable, "-c", TAKE, str(lock), *words]
    taken = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert taken.stdout is not None
    assert taken.stdout.readline() == b"held\n"
    return taken


def test_the_process_that_took_it_is_named_with_its_command(lock: Path) -> None:
    with take(lock) as taker:
        pid, about = holder(lock)
        assert taker.stdin is not None
        taker.stdin.close()
    assert pid == taker.pid
    assert about.startswith(f"process {pid} ({sys.executable} -c import fcntl, os, subprocess")
    assert len(about) < 200


@pytest.mark.slow
def test_a_child_that_inherited_it_is_found_when_its_parent_has_ended(lock: Path) -> None:
    with take(lock, "leave") as taker:
        taker.wait(timeout=30)
        assert files.lock_holder(lock) == taker.pid, "the system names the one that took it"
        pid, about = holder(lock)
        assert taker.stdin is not None
        taker.stdin.close()
    assert pid != taker.pid
    assert about.startswith(f"process {pid} ({sys.executable} -c import sys;")
    assert about.endswith(", started by a process that has ended")


def test_a_lock_that_nobody_holds_has_no_holder(tmp_path: Path) -> None:
    (tmp_path / "state.lock").touch()
    assert holder(tmp_path / "state.lock") == (None, "a process that cannot be seen from here")
