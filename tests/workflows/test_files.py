"""Which workflow files count: those on main, and those that come with the program."""

import os
from pathlib import Path

import pytest

from ghp_agents.core.errors import GhpError, NotFoundError
from ghp_agents.workflows import files
from ghp_agents.workspace import open_workspace
from tests.support.git import git

SHIPPED = ["architecture", "epic", "question", "review"]
OWN = "---\ndescription: Mine\n---\n## Look\n\n- Role: @all\n\nLook at {subject}.\n"


def known(repo: Path) -> files.KnownWorkflows:
    return files.known(open_workspace(repo, os.environ))


def write(repo: Path, name: str, text: str) -> None:
    path = repo / files.FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def commit(repo: Path) -> None:
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "Workflows")


def test_without_files_those_of_the_program_are_there(repo: Path) -> None:
    workflows = known(repo)
    assert ([*workflows.workflows], dict(workflows.problems)) == (SHIPPED, {})
    assert all(workflow.is_shipped for workflow in workflows.workflows.values())


def test_only_a_file_on_main_counts_and_replaces_the_one_of_its_name(repo: Path) -> None:
    write(repo, "question.md", OWN)
    write(repo, "mine.md", OWN)
    assert [*known(repo).workflows] == SHIPPED
    commit(repo)
    workflows = known(repo)
    assert [*workflows.workflows] == ["architecture", "epic", "mine", "question", "review"]
    question = files.find(open_workspace(repo, {}), workflows, "question")
    assert (question.description, question.is_shipped) == ("Mine", False)
    assert files.text(open_workspace(repo, os.environ), "question") == OWN


def test_a_link_or_a_long_file_on_main_is_named_and_does_not_count(repo: Path) -> None:
    write(repo, "real.md", OWN)
    (repo / files.FOLDER / "link.md").symlink_to("real.md")
    write(repo, "long.md", OWN + "x" * 100_000)
    commit(repo)
    workflows = known(repo)
    assert [*workflows.workflows] == ["architecture", "epic", "question", "real", "review"]
    assert dict(workflows.problems) == {
        "link": "it is a link or a folder, not a file", "long": "it has more than 100000 bytes"
    }  # fmt: skip
    with pytest.raises(GhpError, match="cannot be used: it is a link"):
        files.text(open_workspace(repo, os.environ), "link")


def test_a_file_that_is_wrong_hides_no_other_and_is_not_replaced(repo: Path) -> None:
    write(repo, "question.md", "no front matter")
    commit(repo)
    workflows = known(repo)
    assert [*workflows.workflows] == ["architecture", "epic", "review"]
    with pytest.raises(GhpError) as caught:
        files.find(open_workspace(repo, {}), workflows, "question")
    assert str(caught.value) == (
        ".ghp/workflows/question.md cannot be used: no front matter: the first line is not `---`."
    )
    with pytest.raises(NotFoundError) as missing:
        files.find(open_workspace(repo, {}), workflows, "nothing")
    assert str(missing.value) == "There is no workflow 'nothing'."
    with pytest.raises(NotFoundError) as number:
        files.find(open_workspace(repo, {}), workflows, "12")
    assert number.value.hint == "To work on an issue: `ghp agent-start 12 --as NAME`."


def test_a_main_that_does_not_move_is_read_once(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repo, "mine.md", OWN)
    commit(repo)
    before = files.of_main(open_workspace(repo, os.environ))
    monkeypatch.setattr(files, "_read", lambda _: pytest.fail("read again"))
    assert files.of_main(open_workspace(repo, os.environ)) == before == {"mine": OWN}
