"""The service gives everything to the next agent, as the command does."""

from pathlib import Path

import pytest

from ghp_agents.api import connect
from ghp_agents.core.errors import NotFoundError
from ghp_agents.handoffs.handoff import Sections
from ghp_agents.hotpath import implicit_leases
from ghp_agents.issues.issue import IssueChange
from tests.support.git import commit, git


@pytest.fixture
def here(clone: Path) -> Path:
    """A clone on the branch of #1, which worker-1 has."""
    one = connect(clone, agent="worker-1")
    one.new_issue(IssueChange(title="Parse files", body="### Scope\n\nsrc/"))
    one.claim(1)
    git(clone, "checkout", "--quiet", "-b", "agent/worker-1/1-parse")
    return clone


@pytest.mark.slow
def test_a_program_hands_over_as_the_command_does(here: Path, remote: Path) -> None:
    head = commit(here, {"src/a.py": "1\n"})
    one, two = connect(here, agent="worker-1"), connect(here, agent="worker-2")
    one.lease("README.md")
    implicit_leases.take_lease(
        [str(here / ".git/ghp")], "worker-1", 1, "src/a.py", str(here / ".git"), 1e9
    )
    done = one.handoff("worker-2", words=Sections(decisions=("Tabs",)))
    assert done.trouble is None
    assert done.issue
    assert done.issue.assignees == ("worker-2",)
    assert [hold.holder for hold in done.leases] == ["worker-2"]
    assert done.recorded.carried.is_pushed
    assert done.recorded.handoff.sections.decisions == ("Tabs",)
    assert git(remote, "rev-parse", "agent/worker-1/1-parse") == head
    assert implicit_leases.list_all([str(here / ".git/ghp")]) == []
    assert [hold.holder for hold in two.leases()] == ["worker-2"]


@pytest.mark.slow
def test_leases_stay_with_who_has_another_issue(here: Path) -> None:
    one = connect(here, agent="worker-1")
    one.lease("README.md")
    one.new_issue(IssueChange(title="Write docs"))
    one.claim(2)
    done = one.handoff("worker-2", issue=1)
    assert done.leases == ()
    assert [hold.holder for hold in one.leases()] == ["worker-1"]


def test_an_issue_that_does_not_exist_is_trouble_and_the_handoff_is_kept(clone: Path) -> None:
    git(clone, "checkout", "--quiet", "-b", "agent/worker-1/99-parse")
    done = connect(clone, agent="worker-1").handoff("worker-2")
    assert isinstance(done.trouble, NotFoundError)
    assert done.recorded.is_new


@pytest.mark.slow
def test_a_dry_run_gives_nothing(here: Path, remote: Path) -> None:
    from ghp_agents.handoffs.hand_over import hand_over
    from ghp_agents.wiring import App

    commit(here, {"src/a.py": "1\n"})
    done = hand_over(App(here, {"GHP_AGENT": "worker-1"}), to="worker-2", dry_run=True)
    assert (done.issue, done.leases) == (None, ())
    assert "agent/worker-1" not in git(remote, "branch", "--list")
