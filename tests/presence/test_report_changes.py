"""What an agent has changed reaches the other clones with its presence, and ends with its work."""

import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.hotpath import implicit_leases
from tests.support.ghp import invoke, succeed
from tests.support.git import commit, git
from tests.support.repos import Restored
from tests.support.two_clones import LINES, TwoClones, two_clones


@pytest.fixture
def two(restored: Restored) -> TwoClones:
    return two_clones(restored)


def reported(clone: Path, agent: str = "worker-1") -> Any:
    """The changes of an agent, as a clone knows them."""
    shown = json.loads(invoke("agent-status --json", clone).out)
    return shown["agents"][agent].get("changes")


def base(clone: Path, path: str) -> str:
    return git(clone, "rev-parse", f"origin/main:{path}")


def seq(clone: Path, agent: str = "worker-1") -> int:
    number = json.loads((clone / f".git/ghp/agents/{agent}.json").read_bytes())["seq"]
    assert isinstance(number, int)
    return number


@pytest.mark.slow
def test_another_clone_knows_the_files_the_lines_and_no_content(
    two: TwoClones,
) -> None:
    one, other, place = two
    commit(place, {"a.py": LINES.replace("line 10\n", "secret\n", 1)})
    (place / "b.py").unlink()
    (place / "new.py").write_text("1\n")
    succeed(one, "agent-sync")
    succeed(other, "agent-sync")
    assert reported(other) == [
        {"path": "a.py", "base": base(one, "a.py"), "lines": "10,1"},
        {"path": "b.py", "base": base(one, "b.py"), "deleted": True},
        {"path": "new.py", "added": True},
    ]
    refs = git(one / ".git/ghp/state.git", "for-each-ref", "--format=%(refname)")
    assert "secret" not in git(one / ".git/ghp/state.git", "log", "-p", *refs.splitlines())


@pytest.mark.slow
def test_nothing_is_written_while_nothing_moves(two: TwoClones) -> None:
    one, _, place = two
    (place / "a.py").write_text("0\n" + LINES)
    succeed(one, "agent-sync")
    before = seq(one)
    succeed(one, "agent-sync")
    assert (seq(one), reported(one)) == (
        before,
        [{"path": "a.py", "base": base(one, "a.py"), "lines": "0,0"}],
    )
    (place / "a.py").write_text("0\n" + LINES + "31\n")
    succeed(one, "agent-sync")
    assert (seq(one), reported(one)[0]["lines"]) == (before + 1, "0,0 30,0")


@pytest.mark.slow
def test_the_report_is_no_heartbeat(two: TwoClones) -> None:
    one, _, place = two
    (place / "a.py").write_text("0\n" + LINES)
    path = one / ".git/ghp/agents/worker-1.json"
    path.touch()
    beaten = path.stat().st_mtime - 900
    os.utime(path, (beaten, beaten))
    succeed(one, "agent-sync")
    assert abs(path.stat().st_mtime - beaten) < 0.001
    assert 899 <= json.loads(path.read_bytes())["silentFor"] <= 960


@pytest.mark.slow
def test_a_merge_ends_the_report_also_a_squash(two: TwoClones) -> None:
    one, other, place = two
    commit(place, {"a.py": LINES + "31\n"})
    succeed(one, "agent-sync")
    assert reported(one) is not None
    commit(other, {"a.py": LINES + "31\n"}, "The same, squashed")
    git(other, "push", "--quiet", "origin", "main")
    git(one, "fetch", "--quiet", "origin")
    succeed(one, "agent-sync")
    assert reported(one) is None


@pytest.mark.slow
def test_the_end_of_the_agent_ends_the_report(two: TwoClones) -> None:
    one, other, place = two
    (place / "a.py").write_text("0\n" + LINES)
    succeed(one, "agent-sync")
    succeed(place, "agent-heartbeat --as worker-1 --status stopped")
    succeed(one, "agent-sync")
    succeed(other, "agent-sync")
    assert reported(other) is None


@pytest.mark.slow
def test_a_setting_keeps_paths_in_the_clone(two: TwoClones) -> None:
    one, other, place = two
    (place / "a.py").write_text("0\n" + LINES)
    succeed(one, "agent-sync")
    (one / ".ghp").mkdir(exist_ok=True)
    (one / ".ghp/config.json").write_text('{"agents": {"shareChanges": false}}')
    succeed(one, "agent-sync")
    succeed(other, "agent-sync")
    assert reported(other) is None


def test_without_a_remote_nobody_reads_it(repo: Path) -> None:
    succeed(repo, "agent-init --agent worker-1", "agent-heartbeat")
    commit(repo, {"a.py": LINES})
    (repo / "a.py").write_text("0\n")
    succeed(repo, "agent-sync")
    assert reported(repo) is None


@pytest.mark.slow
def test_two_agents_of_one_worktree_report_the_files_that_each_edits(
    two: TwoClones,
) -> None:
    one, _, place = two
    for path, agent in (("a.py", "worker-1"), ("b.py", "worker-3")):
        succeed(place, f"agent-heartbeat --as {agent} --issue 1")
        (place / path).write_text("0\n" + LINES)
    folders = [str(one / ".git/ghp")]
    epoch = json.loads((one / ".git/ghp/agents/worker-3.json").read_bytes())["epoch"]
    git_dir = git(place, "rev-parse", "--absolute-git-dir")
    lease = partial(implicit_leases.take_lease, folders, "worker-3", epoch, "b.py")
    assert lease(git_dir, 2e9) is None
    assert lease(str(one / ".git"), 2e9) is None
    succeed(one, "agent-sync")
    assert [fields["path"] for fields in reported(one, "worker-1")] == ["a.py"]
    assert [fields["path"] for fields in reported(one, "worker-3")] == ["a.py", "b.py"]
