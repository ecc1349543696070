"""Which issue is in hand: that of the branch, if the agent has claimed it."""

from pathlib import Path

import pytest

from ghp_agents.hotpath import heartbeat
from ghp_agents.issues import current_issue
from ghp_agents.workspace import open_workspace
from tests.support.clock import ManualClock
from tests.support.context import Parts, make_context
from tests.support.twins.locks import MemoryLocks


@pytest.fixture
def parts(repo: Path) -> Parts:
    """worker-1 holds #1 to #3 and has lost #4; #3 is current."""
    clock = ManualClock()
    ws, locks = open_workspace(repo, {}, clock), MemoryLocks(clock, clone="c1")
    for issue, holder in enumerate(("worker-1", "worker-1", "worker-1", "worker-2"), 1):
        locks.acquire(f"issue/{issue}", holder, expected=None, epoch=1)
        clock.step(1)
    for issue in (4, 3):
        fields = {"issue": issue, "generation": 1}
        heartbeat.beat(ws.folders, "worker-1", fields, clock.now(), epoch=1 if issue == 4 else None)
    return make_context(ws, locks=locks)


def test_the_claims_are_the_current_one_and_then_the_newest(parts: Parts) -> None:
    assert [*current_issue.held(parts, "worker-1")] == [3, 2, 1]
    assert [*current_issue.held(parts, "worker-1", "c2")] == []
    assert [*current_issue.held(parts, "worker-2")] == [4]


@pytest.mark.parametrize(
    ("branch", "agent", "issue"),
    [
        ("agent/worker-1/2-lex", "worker-1", 2),
        ("agent/worker-1/4-parse", "worker-1", 4),
        ("agent/worker-2/5-print", "worker-1", 3),
        ("main", "worker-1", 3),
        ("agent/worker-2/5-print", "worker-3", 5),
        ("agent/worker-2/5-print", None, 5),
        ("main", None, None),
    ],
)
def test_the_branch_counts_if_the_agent_has_claimed_its_issue(
    parts: Parts, branch: str, agent: str | None, issue: int | None
) -> None:
    Path(parts.ws.git_dir, "HEAD").write_text(f"ref: refs/heads/{branch}\n")
    assert current_issue.in_hand(parts, agent) == issue
