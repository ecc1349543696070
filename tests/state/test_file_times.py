"""What a watcher compares before it reads the state again."""

from pathlib import Path

import pytest

from ghp_agents.state.file_times import read_times
from ghp_agents.wiring import App
from tests.support.ghp import succeed
from tests.support.team import Clones


def times(clone: Path) -> object:
    return read_times(App(clone, {"HOME": str(clone.parent)}).ws)


@pytest.mark.slow
def test_every_command_that_writes_changes_the_times(repo: Path) -> None:
    before = times(repo)
    for line in (
        'agent-issue new "Parse files"',
        "agent-claim 1 --as worker-1",
        "agent-heartbeat --as worker-1 --status testing",
        "agent-lease README.md --as worker-1",
        'agent-escalate "Tabs?" --as worker-1',
        "agent-lease ci --strict --as worker-1",
        "agent-release 1 --as worker-1",
    ):
        succeed(repo, line)
        after = times(repo)
        assert after != before, line
        before = after


@pytest.mark.slow
def test_news_of_another_clone_changes_them_and_looking_does_not(clones: Clones) -> None:
    here, other = clones(2)
    succeed(here, "agent-sync")
    before = times(here)
    succeed(here, "agent-issues", "agent-log")
    assert times(here) == before
    succeed(other, "agent-heartbeat --as worker-2 --status testing", "agent-sync")
    succeed(here, "agent-sync")
    assert times(here) != before


def test_a_repository_that_nobody_set_up_has_times_and_nothing_is_made(repo: Path) -> None:
    assert times(repo) == times(repo)
    assert not (repo / ".git" / "ghp").exists()
