"""A remote that takes connections and never answers: commands say what they wait for, and end at
once if a person wants that."""

import re
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from ghp_agents.core import progress
from ghp_agents.state.git import sync
from ghp_agents.state.git.sync_status import SyncMemory
from tests.support.ghp import run_ghp, start, succeed
from tests.support.git import git


@pytest.fixture
def silent(repo: Path) -> Iterator[str]:
    """The address of the remote of a clone."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"git://127.0.0.1:{server.getsockname()[1]}/x.git"
        succeed(repo, "agent-issue new One --as @me")
        git(repo, "remote", "add", "origin", address)
        yield address


@pytest.mark.slow
@pytest.mark.parametrize("line", ["agent-sync", "agent-start 1 --as w1"])
def test_a_command_says_what_it_waits_for_and_ends_at_once(
    repo: Path, silent: str, line: str
) -> None:
    with start(repo, line, {"GHP_BACKGROUND": "0"}) as process:
        assert process.stderr
        said = f"Waiting for the remote origin ({silent}), for at most 30 s. Ctrl-C ends it.\n"
        assert process.stderr.readline() == said
        process.send_signal(signal.SIGINT)
        assert process.wait(5) == 130
        assert process.stderr.read().strip() in ("", "Aborted.")


@pytest.mark.slow
def test_the_next_commands_wait_for_a_moment_only_and_say_so(repo: Path, silent: str) -> None:
    config = repo / ".ghp/config.json"
    config.parent.mkdir()
    config.write_text('{"agents": {"timeout": 4.1}}')

    def words(line: str) -> str:
        done = run_ghp(line, repo, {"GHP_BACKGROUND": "0"})
        return re.sub("[0-9]+ s ago", "N s ago", done.out + done.err)

    first = words("agent-sync")
    assert "Error: origin: `git fetch` did not finish within 4.1 s (1 change kept here).\n" in first
    again = "it was silent for 2 s, and N s ago for 4.1 s"
    assert words("agent-start 1 --as w1").startswith(
        "Error: Only the remote origin can decide this, and it did not answer: it was silent for "
        "4.1 s\n"
    )
    assert f"origin cannot be reached: {again}" in words("agent-doctor")


def test_it_is_said_only_after_a_while_and_to_somebody() -> None:
    lines: list[str] = []
    with progress.waiting("the remote", 30):
        pass  # nobody listens
    with progress.told_by(lines.append):
        with progress.waiting("the remote", progress.WAITS_AFTER):
            pass  # it would end before it is said
        with progress.waiting("the remote", 30):
            pass  # it answered
    assert lines == []


@pytest.mark.parametrize(
    ("note", "seconds"),
    [
        (SyncMemory(), 0.4),  # it was never asked
        (SyncMemory(fetched_at=9.0, tried_at=9.0, took=0.01), 0.4),
        (SyncMemory(fetched_at=9.0, tried_at=9.0, took=0.3), 0.6),
        (SyncMemory(fetched_at=9.0, tried_at=9.0, took=9.0), 1.5),
        (SyncMemory(fetched_at=9.0, tried_at=9.0, took=0.3, trouble="no"), 0.4),
        (SyncMemory(fetched_at=9.0, tried_at=10.0, took=0.3), 0.4),  # it did not answer since
    ],
)
def test_who_reads_waits_little_longer_than_the_remote_takes(
    note: SyncMemory, seconds: float
) -> None:
    assert sync.usual_wait(note, 1.5) == pytest.approx(seconds)
