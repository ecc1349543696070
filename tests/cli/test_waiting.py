"""Who waits for whom, as `agent-status` shows it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.ghp import CHECKOUT, Result, invoke

CHAIN = "worker-1 waits for #1 (worker-2), who waits for lease db (worker-3)"


def by(agent: str, command: str, repo: Path) -> Result:
    done = invoke(command, repo, {"GHP_AGENT": agent})
    assert done.code == 0, done.err
    return done


@contextmanager
def standing_in_line(agent: str, lease: str, repo: Path) -> Iterator[None]:
    """A process of its own waits for a lease until the end of the block."""
    command = [sys.executable, "-m", "ghp_agents", "agent-lease", *lease.split(), "--wait"]
    env = {**os.environ, "GHP_AGENT": agent, "PYTHONPATH": str(CHECKOUT)}
    with subprocess.Popen(command, cwd=repo, env=env, stderr=subprocess.PIPE) as child:
        try:
            assert child.stderr is not None
            assert b"in line" in child.stderr.readline()
            yield
        finally:
            child.send_signal(signal.SIGINT)
            child.communicate(timeout=30)


@pytest.fixture
def blocked(repo: Path) -> Path:
    """#2 of worker-1 waits for #1 of worker-2; worker-3 has a lease of db."""
    by("worker-9", "agent-issue new Storage", repo)
    by("worker-9", "agent-issue new Table --blocked-by 1", repo)
    by("worker-2", "agent-claim 1", repo)
    by("worker-1", "agent-claim 2", repo)
    by("worker-1", "agent-heartbeat --status implementing", repo)
    by("worker-3", "agent-lease --name db", repo)
    return repo


@pytest.mark.slow
def test_the_table_says_who_is_blocked_and_the_lines_below_it_by_whom(blocked: Path) -> None:
    with standing_in_line("worker-2", "--name db", blocked):
        code, out, err = invoke("agent-status", blocked)
    assert (code, err) == (0, "")
    rows = {line.split()[0]: line for line in out.splitlines() if "waits for" not in line}
    assert "blocked" in rows["worker-1"]
    assert "blocked" in rows["worker-2"]
    assert "blocked" not in rows["worker-3"]
    assert out.splitlines()[-2:] == [CHAIN, "worker-2 waits for lease db (worker-3)"]


@pytest.mark.slow
@pytest.mark.background
def test_one_agent_is_shown_with_the_whole_chain(blocked: Path) -> None:
    with standing_in_line("worker-2", "--name db", blocked):
        shown = invoke("agent-status worker-1", blocked).out.splitlines()
    assert shown[0] == "worker-1: active, blocked"
    assert shown[-1] == f"  {CHAIN}"
    assert "waitsFor" not in "".join(shown)


def test_the_document_has_what_each_waits_for_and_nothing_where_nobody_does(blocked: Path) -> None:
    agents = json.loads(invoke("agent-status --json", blocked).out)["agents"]
    assert agents["worker-1"]["waitsFor"] == [{"agent": "worker-2", "what": "#1"}]
    assert agents["worker-1"]["status"] == "blocked"
    assert [name for name, fields in agents.items() if "waitsFor" in fields] == ["worker-1"]


def test_what_is_published_is_what_the_agent_said_itself(blocked: Path) -> None:
    invoke("agent-status", blocked)
    presence = json.loads((blocked / ".git/ghp/agents/worker-1.json").read_text())
    assert presence["status"] == "implementing"
    assert "waitsFor" not in presence


def test_nobody_waits_any_more_when_the_blocker_is_closed(blocked: Path) -> None:
    by("worker-2", "agent-issue close 1 --reason Merged", blocked)
    code, out, _ = invoke("agent-status", blocked)
    assert code == 0
    assert "waits" not in out
    rows = {line.split()[0]: line.split()[2] for line in out.splitlines()}
    assert rows["worker-1"] == "implementing"


@pytest.mark.slow
def test_those_who_wait_for_each_other_are_asked_about_once_at_a_sync(repo: Path) -> None:
    by("worker-9", "agent-issue new Storage", repo)
    by("worker-9", "agent-issue new Table --blocked-by 1", repo)
    by("worker-2", "agent-claim 1", repo)
    by("worker-1", "agent-lease --name db", repo)
    by("worker-1", "agent-claim 2", repo)
    with standing_in_line("worker-2", "--name db", repo):
        for _ in range(2):
            assert invoke("agent-sync", repo).code == 0
        out = invoke("agent-status", repo).out
    assert out.splitlines()[-2:] == [
        "worker-1 waits for #1 (worker-2), who waits for lease db (worker-1): a circle",
        "worker-2 waits for lease db (worker-1), who waits for #1 (worker-2): a circle",
    ]
    (question,) = json.loads(invoke("agent-escalations --json", repo).out)
    assert question["agent"] == "worker-1"
    assert question["options"] == [
        "worker-1 goes first: without #1",
        "worker-2 goes first: worker-1 releases lease db",
    ]
