"""What becomes of agents' worktrees when everything of ours is removed."""

import subprocess
from pathlib import Path

import pytest

from ghp_agents.core import running
from tests.support.ghp import invoke, succeed
from tests.support.git import commit, git

NOTHING = (0, "", "✓ Nothing to do: ghp-agents has nothing here.\n")


def started(folder: Path, number: int, content: str) -> Path:
    """The worktree of worker-N for issue N, with a commit."""
    succeed(
        folder, f"agent-issue new Part{number} --as @me", f"agent-start {number} --as w-{number}"
    )
    place = Path(invoke(f"agent-where {number}", folder).out.strip())
    commit(place, {f"{number}.txt": content})
    return place


@pytest.mark.slow
def test_merged_worktrees_go_with_their_branches_and_others_stay_and_are_named(
    repo: Path,
) -> None:
    merged, mine, open_ = (started(repo, number, "x\n") for number in (1, 2, 3))
    for place in (merged, mine):
        git(repo, "merge", "--quiet", "--no-edit", git(place, "rev-parse", "HEAD"))
    (mine / "draft.txt").write_text("not committed\n")
    listed = invoke("agent-init --remove --yes --force", repo).err
    assert f"  {merged}, of w-1: worktree and branch without unmerged work\n" in listed
    assert (
        f"Stays:\n  {mine}, of w-2: draft.txt is not committed there\n"
        f"  {open_}, of w-3: it has commits that are not merged\n"
    ) in listed
    assert f"✓ Removed {merged}, of w-1: worktree and branch without unmerged work.\n" in listed
    assert [place.exists() for place in (merged, mine, open_)] == [False, True, True]
    assert git(repo, "branch", "--format=%(refname:short)").split() == [
        "agent/w-2/2-part2", "agent/w-3/3-part3", "main",
    ]  # fmt: skip
    git(mine, "clean", "-fdq")
    again = invoke("agent-init --remove --yes", repo)
    assert f"✓ Removed {mine}: worktree and branch without unmerged work.\n" in again.err
    assert invoke("agent-init --remove --yes", repo) == NOTHING


@pytest.mark.slow
def test_a_worktree_in_which_something_runs_stays(repo: Path) -> None:
    here, busy = started(repo, 1, "x\n"), started(repo, 2, "x\n")
    for place in (here, busy):
        git(repo, "merge", "--quiet", "--no-edit", git(place, "rev-parse", "HEAD"))
    with subprocess.Popen(["sleep", "60"], cwd=busy) as program:
        listed = invoke("agent-init --remove --dry-run", here).out
        program.kill()
    assert f"  {here}, of w-1: this command runs in it\n" in listed
    assert f"  {busy}, of w-2: a program runs in it\n" in listed


def test_a_program_uses_the_folder_that_it_runs_in_and_those_above(tmp_path: Path) -> None:
    inner, other = tmp_path / "a/b", tmp_path / "c"
    inner.mkdir(parents=True)
    other.mkdir()
    with subprocess.Popen(["sleep", "60"], cwd=inner) as program:
        used = [running.is_used(folder) for folder in (inner, tmp_path / "a", other)]
        program.kill()
    assert used == [True, True, False]
