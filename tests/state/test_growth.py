"""The private repository stays small by itself."""

from pathlib import Path

import pytest

from ghp_agents.state.git import repack as upkeep
from ghp_agents.state.git.store import GitRefsStore
from tests.state.clones import private, workspace, write_presence
from tests.support.clock import ManualClock
from tests.support.git import git
from tests.support.thorough import count as sized

FOLDS = sized(1_000, sample=300)


def beats(repo: Path, fold: int, now: float) -> None:
    """Ten agents at work: each beats before a fold, one in seven goes on to something else."""
    for number in range(10):
        fields = {
            "issue": 100 + number,
            "status": "testing" if (fold + number) % 7 == 0 else "implementing",
            "lastAction": f"Edited src/module_{(fold * 7 + number) % 50}.py, step {fold}",
            "timestamp": "2025-01-25T10:30:00Z",
            "epoch": 1,
            "seq": fold + 1,
            "startedAt": "2025-01-25T10:00:00Z",
            "lastProgress": "2025-01-25T10:30:00Z",
            "session": f"0b9f77aa-77aa-3f9a-{number:012d}",
            "kind": "claude",
            "branch": f"agent/worker-{number}/{100 + number}-dashboard",
            "worktree": f"{100 + number}-dashboard",
        }
        write_presence(repo, f"worker-{number}", fields, now)


def count(repo: Path) -> dict[str, int]:
    lines = git(private(repo).path, "count-objects", "-v").splitlines()
    return {key: int(value) for key, value in (line.split(": ") for line in lines)}


@pytest.mark.slow
def test_a_thousand_folds_of_ten_agents_would_take_less_than_half_a_megabyte(repo: Path) -> None:
    clock = ManualClock()
    store = GitRefsStore(workspace(repo, clock))
    most = 0
    for fold in range(FOLDS):
        clock.wait(60)
        beats(repo, fold, clock.now())
        assert store.fold() == 1
        most = max(most, count(repo)["count"]) if fold % 50 == 0 else most
    assert most < 2 * upkeep.LOOSE_LIMIT
    assert upkeep.run(workspace(repo), private(repo))
    state = private(repo).path
    size = sum(path.stat().st_size for path in state.rglob("*") if path.is_file())
    print(f"{size} bytes after {FOLDS} folds")  # noqa: T201 - shown when it fails, or with -s
    assert size <= 20_000 + 480 * FOLDS
    assert len(store.ledger()) > FOLDS
    git(state, "fsck", "--strict")
