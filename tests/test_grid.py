"""The grid: a noun has one name on every floor, a command and its function too."""

from pathlib import Path

import click
import pytest

from ghp_agents.cli.app import COMMANDS, HIDDEN, app
from tests.support.ghp import invoke
from tests.support.house import CHECKOUT, sources

FACES_AND_GROUND = ("cli", "hooks", "demo", "core", "git", "hotpath")
PARTS_OF_GIT_LOCKS = ("locks/lock_refs.py", "locks/restore_lost.py")  # tested through locks/git.py


def test_every_module_of_a_noun_has_its_test_file() -> None:
    # A folder inside a package holds the parts of one adapter, which are tested through it; a file
    # without a function has nothing to test.
    modules = [
        path
        for source in sources("ghp_agents", suffix=".py")
        if "def " in source.text
        and source.path.count("/") == 2
        and (path := Path(source.path).relative_to("ghp_agents")).parts[0] not in FACES_AND_GROUND
        and str(path) not in PARTS_OF_GIT_LOCKS
    ]
    expected = [Path("tests") / path.parent / f"test_{path.name}" for path in modules]
    missing = [str(path) for path in expected if not (CHECKOUT / path).exists()]
    assert missing == [], "A reader finds the test of a file by its name: write these files."


@pytest.mark.parametrize("name", [*COMMANDS, *HIDDEN])
def test_a_command_and_its_function_have_one_name(name: str) -> None:
    command = app.get_command(click.Context(app), name)
    assert command is not None
    assert command.name == name
    assert {**COMMANDS, **HIDDEN}[name].function == name.removeprefix("agent-").replace("-", "_")


@pytest.mark.parametrize("name", [*COMMANDS, *HIDDEN])
def test_the_help_of_every_command_shows_an_example_of_it(name: str, tmp_path: Path) -> None:
    shown = invoke([name, "--help"], tmp_path)
    assert (shown.code, shown.err) == (0, "")
    program = "ghp" if name.startswith("agent-") else "ghp-agents"
    assert f"Example: {program} {name}" in shown.out
