"""In a worktree that agents share, each stores its own work, as far as it is known whose it is."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.handoffs.shared_worktree import Sharing, sharing
from ghp_agents.handoffs.uncommitted import take_uncommitted
from ghp_agents.hotpath import implicit_leases
from ghp_agents.workspace import MYSELF, Workspace, open_workspace
from tests.support.clock import ManualClock
from tests.support.ghp import invoke
from tests.support.git import commit, git
from tests.support.hooks import call, set_up, write

TWO = {"GHP_AGENT": "worker-2"}


def beat(folder: Path, *names: str) -> None:
    for name in names:
        assert invoke("agent-heartbeat", folder, {"GHP_AGENT": name}).code == 0


def space(folder: Path, name: str = "worker-1") -> Workspace:
    return open_workspace(folder, os.environ, ManualClock(), name)


def edit(folder: Path, name: str, path: str, content: str = "x\n") -> None:
    """An agent's client writes a file."""
    call("claude", write(folder / path, folder), folder, {"GHP_AGENT": name})
    (folder / path).parent.mkdir(exist_ok=True)
    (folder / path).write_text(content)


@pytest.fixture
def shared(repo: Path) -> Path:
    """A worktree in which two agents edit a tracked and a new file each; a command wrote one."""
    set_up(repo, None)
    commit(repo, {"one.md": "1\n", "two.md": "2\n", ".gitignore": ".ghp/\n.claude/\n"})
    for name, path in (("worker-1", "one"), ("worker-2", "two")):
        beat(repo, name)
        edit(repo, name, f"{path}.md")
        edit(repo, name, f"src/{path}.py")
    (repo / "generated").write_text("x\n")
    return repo


def stored(ws: Workspace, agent: str | None) -> list[str]:
    return [change.path for change in take_uncommitted(ws, agent).patch.changes]


@pytest.mark.slow
def test_each_stores_its_own_files_and_those_of_nobody(shared: Path) -> None:
    one = take_uncommitted(space(shared), "worker-1")
    assert [change.path for change in one.patch.changes] == ["generated", "one.md", "src/one.py"]
    assert one.missing == ()
    assert one.shared == (
        "Left out, because worker-2 edits them here: `src/two.py`, `two.md`. worker-2 works here, "
        "too, and nobody is known to have edited 1 stored file: `generated`."
    )
    two = stored(space(shared, "worker-2"), "worker-2")
    assert two == ["generated", "src/two.py", "two.md"]


def test_a_checkpoint_says_so_in_one_line(shared: Path) -> None:
    done = invoke("agent-handoff --checkpoint --stdout", shared, TWO)
    line = (
        "Left out, because worker-1 edits them here: `one.md`, `src/one.py`. worker-1 works here, "
        "too, and nobody is known to have edited 1 stored file: `generated`."
    )
    assert f"{line}\n" in done.err
    assert f"restores it. {line}\n" in done.out


def test_who_has_ended_leaves_its_files_to_the_other(shared: Path) -> None:
    assert invoke("agent-heartbeat --status stopped", shared, TWO).code == 0
    work = take_uncommitted(space(shared), "worker-1")
    assert len(work.patch.changes) == 5
    assert work.shared == ""


def test_a_person_hands_over_all(shared: Path) -> None:
    assert len(stored(space(shared, MYSELF), None)) == 5


def test_agents_of_other_worktrees_and_branches_count_for_nothing(
    repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    other = worktree(repo, "2")
    beat(repo, "worker-1")
    beat(other, "worker-2")
    assert sharing(space(repo), "worker-1") == Sharing()
    git(repo, "checkout", "--quiet", "-b", "elsewhere")
    beat(repo, "worker-3")
    git(repo, "checkout", "--quiet", "main")
    assert sharing(space(repo), "worker-1") == Sharing()


def test_edits_of_the_same_path_in_other_worktrees_count_for_nothing(
    shared: Path, worktree: Callable[[Path, str], Path]
) -> None:
    other = str(shared / ".git/worktrees" / worktree(shared, "2").name)
    folders = [str(shared / ".git/ghp")]
    now = time.time()
    assert implicit_leases.take_lease(folders, "worker-2", 1, "one.md", other, now) is None
    assert implicit_leases.take_lease(folders, "worker-2", 1, "generated", other, now) is None
    shared_with = sharing(space(shared), "worker-1")
    assert shared_with.editor("one.md") == "worker-1"
    assert shared_with.editor("generated") == ""


def test_case_is_ignored_where_git_ignores_it() -> None:
    editors = {"a.md": "worker-2", "B.md": "worker-2"}
    assert Sharing(("worker-2",), editors, fold=True).is_others("A.md")
    assert not Sharing(("worker-2",), editors).is_others("A.md")


def test_many_files_are_counted() -> None:
    with_whom = Sharing(("worker-2",))
    assert with_whom.describe((), [f"f{n}" for n in range(7)]) == (
        "worker-2 works here, too, and nobody is known to have edited 7 stored files: `f0`, `f1`, "
        "`f2`, `f3`, `f4` and 2 more."
    )
