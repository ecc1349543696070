"""What is written for GitHub is checked by three tools, and each sees what it is there for."""

import re
from pathlib import Path

import pytest

from tests.support import outside
from tools import clients, emulate, workflows

GOOD = """\
name: Sweep
on:
  workflow_dispatch:
permissions: {}
concurrency:
  group: sweep
  cancel-in-progress: false
jobs:
  sweep:
    name: Sweep
    runs-on: ubuntu-24.04
    permissions:
      issues: write # labels
    steps:
      - run: echo "Sweep"
"""
FORM = """\
name: Task
description: One thing to do
body:
  - type: textarea
    id: goal
    attributes:
      label: Goal
"""


@pytest.fixture(scope="session")
def stand() -> emulate.Stand:
    """The tools; without a way to npm there is nothing to run."""
    pytest.importorskip("check_jsonschema", reason="the extra `dev` is not installed")
    return outside.need("actionlint", emulate.ready)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with one file of each kind, all as they should be."""
    for name, text in {
        ".github/workflows/sweep.yml": GOOD,
        ".github/ISSUE_TEMPLATE/task.yml": FORM,
        ".github/ISSUE_TEMPLATE/config.yml": "blank_issues_enabled: false\n",
        "action.yml": "name: A\ndescription: B\nruns:\n  using: composite\n  steps:\n"
        "    - run: echo\n      shell: bash\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def told(folder: Path, stand: emulate.Stand) -> list[str]:
    return [each.tool for each in workflows.check(folder, stand)]


def change(path: Path, old: str, new: str) -> None:
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_each_file_is_judged_by_its_own_schema(folder: Path) -> None:
    found = {
        schema: [path.name for path in paths] for schema, paths in workflows.files(folder).items()
    }
    assert found == {
        "vendor.github-workflows": ["sweep.yml"],
        "vendor.github-actions": ["action.yml"],
        "vendor.github-issue-config": ["config.yml"],
        "vendor.github-issue-forms": ["task.yml"],
    }


@pytest.mark.slow
def test_the_command_tells_what_is_wrong_and_how_much_it_looked_at(
    folder: Path, stand: emulate.Stand, capsys: pytest.CaptureFixture[str]
) -> None:
    assert workflows.main([str(folder)]) == 0
    assert capsys.readouterr().out == "4 files for GitHub checked, 0 complaints.\n"
    sweep = folder / ".github/workflows/sweep.yml"
    change(folder / ".github/ISSUE_TEMPLATE/task.yml", "textarea", "essay")
    change(folder / ".github/ISSUE_TEMPLATE/config.yml", "false", "perhaps")
    change(folder / "action.yml", "composite", "magic")
    change(
        sweep, '- run: echo "Sweep"',
        "- run: echo ${{ steps.a.outputs.x }}\n      - uses: actions/checkout@v5",
    )  # fmt: skip
    assert workflows.main([str(folder)]) == 1
    printed = capsys.readouterr()
    assert "4 files for GitHub checked, 5 complaints.\n" in printed.out
    tools = re.findall(r"^(check-jsonschema|actionlint|zizmor):$", printed.err, re.M)
    assert tools == ["check-jsonschema"] * 3 + ["actionlint", "zizmor"]
    for where in (
        "action.yml::$.runs:", "config.yml::$.blank_issues_enabled:", "task.yml::$.body[0].type:",
        'sweep.yml:15:23: property "a" is not defined', "error[unpinned-uses]",
    ):  # fmt: skip
        assert where in printed.err


@pytest.mark.slow
def test_what_the_linter_is_too_old_for_is_left_to_the_schema(
    folder: Path, stand: emulate.Stand
) -> None:
    path = folder / ".github/workflows/sweep.yml"
    change(path, "cancel-in-progress: false", "queue: max")
    assert told(folder, stand) == []
    change(path, "queue: max", "queue: some")
    assert "check-jsonschema" in told(folder, stand)


def test_without_a_way_to_npm_it_says_that_nothing_was_checked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unreachable() -> None:
        raise clients.UnreachableError("ENOTFOUND")

    monkeypatch.setattr(emulate, "ready", unreachable)
    assert workflows.main(["."]) == 0
    assert capsys.readouterr().err == (
        "Not checked; the registry of npm cannot be reached: ENOTFOUND\n"
    )
