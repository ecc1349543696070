"""The files that declare tasks: only those on main count."""

import os
from pathlib import Path

import pytest

from ghp_agents.consent import service as trust
from ghp_agents.core.errors import GhpError, NotFoundError, RefusedError
from ghp_agents.runs import task_files
from ghp_agents.wiring import App
from tests.support import consent
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


FIELDS = ["run: make x", "runner: codex", "permissions: [{tool: read}]", "autonomous: ask"]


@pytest.mark.sample(1)
@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("folder", [".ghp/tasks", ".claude/commands"])
def test_a_task_that_says_what_runs_waits_for_a_person(repo: Path, folder: str, field: str) -> None:
    file = repo / folder / "lint.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    text = f"---\n{field}\n---\n" + ("" if field.startswith("run:") else "Lint.\n")
    file.write_text(text)
    commit(repo)
    ws = App(repo, os.environ).ws
    with pytest.raises(RefusedError) as refused:
        task_files.read(ws, "lint")
    assert (str(refused.value), refused.value.hint) == (
        f"The task lint was not started: nobody has approved {folder}/lint.md on main in this "
        "clone.",
        "A person can review and approve it with `ghp agent-trust`.",
    )
    shown = [(item.key, item.value, item.does) for item in trust.wanted(ws)]
    assert shown == [(f"{folder}/lint.md", text.rstrip("\n"), "is run in the background as a task")]
    consent.agree(repo)
    assert task_files.read(ws, "lint").name == "lint"
    file.write_text(text.replace("---\n", "---\ndescription: faster\n", 1))
    commit(repo)
    with pytest.raises(RefusedError, match="nobody has approved"):
        task_files.read(App(repo, os.environ).ws, "lint")
