"""The doctor on names, and who is still at work."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ghp_agents.core.finding import Finding, Level, info, ok
from ghp_agents.core.ids import AgentName
from ghp_agents.presence import checks
from ghp_agents.presence import service as presence
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock
from tests.support.context import make_context
from tests.support.twins.state import MemoryStore


@pytest.fixture
def ws(repo: Path, home: Path) -> Workspace:
    """A workspace on a clock that stands still."""
    return open_workspace(repo, {"HOME": str(home)}, ManualClock())


def at(folder: Path, name: str | None = "worker-1", **environ: str) -> Workspace:
    return open_workspace(folder, {**os.environ, **environ}, ManualClock(), name)


def one(findings: Iterator[Finding]) -> Finding:
    (finding,) = findings
    return finding


def test_whoever_works_here_is_named_or_told_how_to_be(repo: Path) -> None:
    assert one(checks.check_agent(at(repo))) == ok("agent", "Commands here act as worker-1.")
    assert one(checks.check_agent(at(repo, None))) == info(
        "agent",
        "This worktree has no agent name.",
        "If an agent works here, name it: ghp agent-whoami --set worker-1",
    )
    bad = one(checks.check_agent(at(repo, None, GHP_AGENT="../../x")))
    assert (bad.level, bad.text) == (
        Level.ERROR,
        "'../../x' is not a valid agent name, so no command can use it.",
    )


def test_agents_that_beat_of_late_are_named(ws: Workspace) -> None:
    clock = ManualClock(ws.clock.now() - 700)
    store = MemoryStore(clock)
    store.beat("worker-3", {"status": "idle", "epoch": 1, "seq": 1})
    clock.wait(500)
    store.beat("worker-2", {"status": "idle", "epoch": 1, "seq": 1})
    store.beat("worker-1", {"status": "idle", "epoch": 1, "seq": 1})
    for name in ("worker-1", "worker-2", "worker-3"):  # agents of this clone
        presence.heartbeat(ws, store, AgentName(name), {})
    assert checks.living(make_context(ws, store)) == ["worker-1", "worker-2"]


def test_one_session_under_a_name_is_no_rival_of_itself(ws: Workspace) -> None:
    presence.heartbeat(ws, MemoryStore(ws.clock), AgentName("worker-1"), {"status": "testing"})
    assert list(checks.check_rivals(ws)) == []
