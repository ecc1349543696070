"""A process is ended only if it is the one that was noted."""

import os
import subprocess
from collections.abc import Iterator

import pytest

from ghp_agents.core import running
from tests.support.users import OTHER, only_root

STUBBORN = "trap '' TERM; echo ready; while :; do sleep 0.1; done"


@pytest.fixture
def child() -> Iterator["subprocess.Popen[bytes]"]:
    """A program that ignores SIGTERM, in a session of its own, with children."""
    popen = subprocess.Popen(
        ["/bin/sh", "-c", STUBBORN], stdout=subprocess.PIPE, start_new_session=True
    )
    assert popen.stdout
    assert popen.stdout.readline() == b"ready\n"
    yield popen
    popen.kill()
    popen.wait()
    popen.stdout.close()


def test_it_is_recognized_until_it_ends(child: "subprocess.Popen[bytes]") -> None:
    identity = running.identity(child.pid)
    assert identity
    assert running.identity(child.pid) == identity != running.identity(os.getpid())
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert running.identity(child.pid) is None  # its number is still taken


def test_what_ignores_a_polite_signal_is_killed_after_a_while(
    child: "subprocess.Popen[bytes]",
) -> None:
    waited: list[float] = []
    assert running.end(child.pid, running.identity(child.pid) or "", waited.append)
    assert child.wait(timeout=10) == -9
    assert sum(waited) == pytest.approx(running.GRACE_S)


def test_another_process_with_the_same_number_is_left_alone(
    child: "subprocess.Popen[bytes]",
) -> None:
    assert not running.end(child.pid, "another boot 1", lambda seconds: None)
    assert child.poll() is None


def test_a_process_of_another_user_is_never_recognized() -> None:
    only_root()
    popen = subprocess.Popen(["/bin/sleep", "60"], user=OTHER, cwd="/")
    assert running.identity(popen.pid) is None
    popen.kill()
    popen.wait()
