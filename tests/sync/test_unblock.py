"""An agent whose issue is no longer blocked goes back to what it did, with hooks and without."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.ids import AgentName
from ghp_agents.sync import notifications
from ghp_agents.wiring import App
from tests.support.ghp import succeed

BLOCKED = ("agent-issue block 1 --by 2", "agent-heartbeat --status blocked --as worker-1")


@pytest.fixture
def pair(clones: Callable[[int], list[Path]]) -> tuple[Path, Path]:
    """Two clones with two issues; worker-1 tests #1 in the first."""
    one, other = clones(2)
    succeed(
        one,
        "agent-init",
        "agent-issue new Parse",
        "agent-issue new Write",
        "agent-claim 1 --as worker-1",
        "agent-heartbeat --status testing --as worker-1",
        "agent-sync",
    )
    succeed(other, "agent-init", "agent-sync")
    deliver(one)
    return one, other


def deliver(folder: Path) -> None:
    app, name = App(folder, os.environ, name="worker-1"), AgentName("worker-1")
    notifications.deliver(app, name, notifications.gather(app, name).ids)


def status(folder: Path) -> str:
    succeed(folder, "agent-sync")
    return str(App(folder, os.environ).store.snapshot().agents()["worker-1"]["status"])


@pytest.mark.slow
def test_the_next_sync_ends_it_where_no_hook_runs(pair: tuple[Path, Path]) -> None:
    one, other = pair
    succeed(one, *BLOCKED)
    beaten = (one / ".git/ghp/agents/worker-1.json").stat().st_mtime
    assert status(one) == status(other) == "blocked"
    succeed(other, "agent-issue close 2", "agent-sync")
    assert status(one) == "testing"
    succeed(one, "agent-sync")
    assert status(other) == "testing"
    now = (one / ".git/ghp/agents/worker-1.json").stat().st_mtime
    assert now == pytest.approx(beaten, abs=1e-3)  # that was no heartbeat


@pytest.mark.slow
def test_an_agent_that_is_blocked_by_something_else_stays_so(pair: tuple[Path, Path]) -> None:
    one, _ = pair
    succeed(one, *BLOCKED, "agent-issue close 2")
    assert status(one) == "testing"
    succeed(one, "agent-heartbeat --status blocked --as worker-1")
    assert status(one) == "blocked"


@pytest.mark.slow
def test_the_delivery_of_the_news_ends_it(pair: tuple[Path, Path]) -> None:
    one, _ = pair
    succeed(one, *BLOCKED, "agent-issue close 2")
    deliver(one)
    assert status(one) == "testing"


@pytest.mark.slow
def test_a_status_that_nobody_else_saw_comes_back(pair: tuple[Path, Path]) -> None:
    one, _ = pair
    succeed(one, "agent-heartbeat --status reviewing --as worker-1", *BLOCKED)
    succeed(one, "agent-issue close 2")
    assert status(one) == "reviewing"
