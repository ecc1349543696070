"""A process is recognized by its number and the time when it started."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ghp_agents.hotpath import process_start

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="this system shows no processes in /proc"
)


def test_a_running_process_started_at_one_time_that_no_other_shares_with_its_number() -> None:
    mine = process_start.key(os.getpid())
    code = (
        "import os; from ghp_agents.hotpath import process_start as p; print(p.key(os.getppid()))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert printed.stdout.strip() == mine
    assert mine == f"{os.getpid()}-{process_start.started(os.getpid())}"


def test_a_process_that_has_ended_did_not_start() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert process_start.key(process.pid) == ""  # a zombie
    assert process_start.key(process.pid) == ""
    assert process_start.key(None) == ""
    assert process_start.fields(99_999_999) == []
