"""Files are read from the trunk's commit as this clone knows it."""

import os
from collections.abc import Callable
from pathlib import Path

from ghp_agents.consent import templates as trunk_file
from ghp_agents.pulls.body_template import TEMPLATES
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.consent import agree
from tests.support.git import commit, git


def at(folder: Path) -> Workspace:
    return open_workspace(folder, os.environ)


def test_the_first_of_the_paths_that_is_a_file_is_read(repo: Path) -> None:
    commit(repo, {"b": "b\r\n", "c": "c\n", "d/e": "e\n"})
    assert trunk_file.text(at(repo), "a", "d", "b", "c") == "b\n"
    assert trunk_file.text(at(repo), "a") is None


def test_the_trunk_of_the_remote_goes_before_the_one_here(
    clones: Callable[[int], list[Path]],
) -> None:
    clone = clones(1)[0]
    commit(clone, {"a": "of the remote\n"})
    git(clone, "push", "--quiet", "origin", "main")
    commit(clone, {"a": "only here\n"})
    assert trunk_file.text(at(clone), "a") == "of the remote\n"
    git(clone, "update-ref", "-d", "refs/remotes/origin/main")
    assert trunk_file.text(at(clone), "a") == "only here\n"


def test_the_doctor_is_told_what_is_no_template_yet(repo: Path) -> None:
    assert list(trunk_file.check(at(repo), TEMPLATES)) == []
    (repo / ".ghp/templates").mkdir(parents=True)
    (repo / ".ghp/templates/pull.md.j2").write_text("x\n")
    findings = [(one.level.name, one.text) for one in trunk_file.check(at(repo), TEMPLATES)]
    assert findings == [("INFO", ".ghp/templates/pull.md.j2 takes effect once it is on main.")]
    git(repo, "add", "-A")
    git(repo, "commit", "--quiet", "--message", "Template")
    findings = [(one.level.name, one.text) for one in trunk_file.check(at(repo), TEMPLATES)]
    assert findings == [
        (
            "WARNING",
            ".ghp/templates/pull.md.j2 on main is not used: nobody has approved it in this clone.",
        )
    ]
    agree(repo, Path(at(repo).environ["HOME"]))
    assert list(trunk_file.check(at(repo), TEMPLATES)) == []
