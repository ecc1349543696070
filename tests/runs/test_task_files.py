"""The files that declare tasks: only those on main count."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import GhpError, NotFoundError
from ghp_agents.runs import task_files
from ghp_agents.wiring import App
from tests.support.git import git


def commit(repo: Path, **files: str) -> None:
    """Files of tasks, on main."""
    (repo / ".ghp/tasks").mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (repo / f".ghp/tasks/{name}.md").write_text(text)
    git(repo, "add", ".")
    git(repo, "commit", "--quiet", "-m", "Tasks")


def test_tasks_are_read_from_main(repo: Path) -> None:
    commit(repo, index="Index $1.\n")
    (repo / ".ghp/tasks/mine.md").write_text("Mine.\n")
    ws = App(repo, {}).ws
    assert [*task_files.known(ws)] == ["index"]
    assert task_files.read(ws, "index").prompt == "Index $1."
    with pytest.raises(NotFoundError) as unknown:
        task_files.read(ws, "mine")
    assert unknown.value.hint == "It declares index."


def test_commands_of_claude_code_are_tasks_and_ours_come_first(repo: Path) -> None:
    folder = repo / ".claude/commands"
    folder.mkdir(parents=True)
    (folder / "index.md").write_text("Theirs.\n")
    (folder / "onboard.md").write_text("---\nallowed-tools: Bash\n---\nOnboard.\n")
    commit(repo, index="Ours.\n")
    ws = App(repo, {}).ws
    assert [task_files.read(ws, name).prompt for name in ("index", "onboard")] == [
        "Ours.", "Onboard.",
    ]  # fmt: skip


def test_links_are_not_followed_and_wrong_files_are_named(repo: Path) -> None:
    commit(repo, wrong="---\nrun: [1]\n---\n", long="x" * 100_001)
    (repo / ".ghp/tasks/link.md").symlink_to("/etc/passwd")
    commit(repo)
    ws = App(repo, {}).ws
    assert [*task_files.known(ws)] == ["long", "wrong"]
    for name in ("wrong", "long"):
        with pytest.raises(GhpError, match=f"{name}.md on main declares no task"):
            task_files.read(ws, name)


def test_without_a_commit_there_are_none(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    ws = App(tmp_path, {}).ws
    assert task_files.known(ws) == {}
    with pytest.raises(NotFoundError) as unknown:
        task_files.read(ws, "index")
    assert unknown.value.hint == "Add .ghp/tasks/NAME.md to main."
