"""What a command confirmed reaches the remote, though its process group is killed at once."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.ghp import CHECKOUT
from tests.support.git import git

BACKGROUND = {"GHP_BACKGROUND": "1", "PYTHONPATH": str(CHECKOUT)}


@pytest.fixture
def pushed(remote: Path) -> Path:
    """A named pipe: who reads it waits for a push to the remote."""
    pipe = remote.with_name("pushed")
    os.mkfifo(pipe)
    hook = remote / "hooks/post-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ncat > {pipe}\n")
    hook.chmod(0o755)
    return pipe


def killed(cwd: Path, args: str) -> str:
    """Run a command and then a client that stays; kill both, and their process group, as soon as
    the command has confirmed. Returns what it printed."""
    words = f"{sys.executable} -m ghp_agents {args} && exec sleep 1000"
    with subprocess.Popen(
        ["sh", "-c", words],
        cwd=cwd, env={**os.environ, **BACKGROUND}, start_new_session=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as client:  # fmt: skip
        assert client.stdout is not None
        line = client.stdout.readline()
        os.killpg(client.pid, signal.SIGKILL)
    return line.strip()


@pytest.mark.slow
def test_a_lease_of_a_session_that_is_killed_at_once_reaches_the_remote(
    clone: Path, remote: Path, pushed: Path
) -> None:
    name = killed(clone, "agent-lease a.py --as worker-1")
    assert name.startswith("L-")
    while name not in git(remote, "log", "--format=%s", "--glob=refs/ghp/clone"):
        pushed.read_text()
    (clone / ".git/ghp").rename(clone / ".git/away")  # so the process in the background ends
