"""How many git processes each command starts, in a clone with a remote: starting them is most of
what a command takes. `python -m tools.measures --git` shows which."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.git import git
from tests.support.hooks import SILENT, call, set_up, write
from tools.processes import STEPS, Calls, calls_in, count_all

# What reports changed files, which is due once, ten seconds after a heartbeat. On a slow machine
# that is now.
REPORT = 3
MOST = {
    "agent-issue new": 2,
    "agent-claim of a held issue": 3,
    "agent-lease": 2,
    "agent-escalate": 4,
    "agent-handoff --checkpoint": 5,
    "agent-status": 1,
    "agent-sweep, nothing to do": 9 + REPORT,
    "agent-sync --publish": 8 + REPORT,
    "agent-start": 15,
    "agent-finish": 16,
}


@pytest.fixture(scope="module")
def counts() -> dict[str, Calls]:
    """The git processes of each command."""
    return count_all()


def test_every_counted_command_has_a_bound() -> None:
    assert [name for name, _, _ in STEPS if name] == [*MOST]


@pytest.mark.slow
@pytest.mark.cases(99)  # they are counted together
@pytest.mark.parametrize("name", MOST)
def test_a_command_starts_few_git_processes(counts: dict[str, Calls], name: str) -> None:
    assert counts[name].total <= MOST[name], counts[name].own


@pytest.mark.slow
def test_at_most_one_process_reads_the_objects_of_the_state(counts: dict[str, Calls]) -> None:
    assert max(calls.own["cat-file --batch"] for calls in counts.values()) <= 1


def test_an_edit_of_a_file_that_nobody_else_edits_starts_no_git_process(
    repo: Path, worktree: Callable[[Path, str], Path], tmp_path: Path
) -> None:
    (repo / "a.txt").write_text("1\n")
    (repo / "b.txt").write_text("1\n")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "Begin")
    set_up(repo)
    other = set_up(worktree(repo, "two"), "worker-2")
    call("claude", write(other / "b.txt", other), other, {"GHP_AGENT": "worker-2"})
    trace = tmp_path / "trace"
    trace.mkdir()
    traced = {"GHP_AGENT": "worker-1", "GIT_TRACE2_EVENT": str(trace)}
    call("claude", write(repo / "a.txt", repo), repo, {"GHP_AGENT": "worker-1"})  # makes the policy
    for name in ("a.txt", "new.txt"):
        assert call("claude", write(repo / name, repo), repo, traced) == SILENT
    assert calls_in(trace).total == 0
