"""The default set-up opens no connection, ends at once, and costs nobody who does not ask."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.ghp import CHECKOUT, run_ghp
from tests.support.memory import needs_mem0
from tests.support.thorough import some

ONE = {"GHP_AGENT": "worker-1"}
WORDS = [
    "agent-status", "agent-heartbeat", "agent-whoami", "agent-sync", "agent-log", "agent-issues",
    "agent-escalations", "agent-doctor", "agent-remember So-it-is", "agent-resume",
    "agent-handoff --checkpoint", "agent-notes list", "--help",
]  # fmt: skip
# Runs a command where whoever asks for a name or a connection is told of, and refused; says last
# how late it is when all work is done.
GUARDED = """
import atexit, sys, time
def guard(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        sys.stderr.write(f"NETWORK {event} {args}\\n")
        raise OSError("there is no network here")
sys.addaudithook(guard)
from ghp_agents.cli.app import run
code = run(sys.argv[1:])
sys.stdout.flush()
sys.stderr.write(f"DONE {time.monotonic()}\\n")
sys.stderr.flush()
sys.exit(code)
"""


def guarded(cwd: Path, *words: str) -> tuple[str, str, float]:
    """What a command prints, and the seconds from its last word to the end of its process."""
    done = subprocess.run(
        [sys.executable, "-c", GUARDED, *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
    )
    ended = time.monotonic()
    assert done.returncode == 0, done.stderr
    seconds = float(done.stderr.rpartition("DONE ")[2])
    return done.stdout, done.stderr, ended - seconds


def test_the_guard_sees_a_connection(tmp_path: Path) -> None:
    code = GUARDED.replace("from ghp_agents.cli.app import run", "import socket").replace(
        "run(sys.argv[1:])", "socket.create_connection(('127.0.0.1', 9))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "NETWORK socket.getaddrinfo ('127.0.0.1', 9" in done.stderr
    assert "there is no network here" in done.stderr


@pytest.mark.slow
@needs_mem0
@pytest.mark.parametrize("words", some(WORDS, every=4))
def test_a_command_that_does_not_search_imports_nothing_of_mem0(repo: Path, words: str) -> None:
    run_ghp(["agent-remember", "Staging drops OPTIONS requests"], repo, ONE)
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "ghp_agents", *words.split()],
        cwd=repo,
        env={**_environment(), **ONE},
        capture_output=True,
        text=True,
        timeout=60,
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    modules = {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}
    assert "ghp_agents" in modules, done.stderr
    assert modules & {"mem0", "numpy", "tokenizers", "safetensors", "qdrant_client"} == set()


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": str(CHECKOUT)}
