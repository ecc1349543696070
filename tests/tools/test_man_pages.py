"""Man pages: one for each command and one for the whole, as the commands are, and valid roff."""

import shutil
import subprocess
from pathlib import Path

import click
import pytest

from ghp_agents.cli.app import COMMANDS, app
from tools.man_pages import pages

PAGES = pages("0.1.0")


def options(command: click.Command) -> set[str]:
    """The long names of a command's options and of those below it."""
    below = command.commands.values() if isinstance(command, click.Group) else ()
    own = {
        name
        for param in command.params
        if isinstance(param, click.Option) and not param.hidden
        for name in param.opts
        if name.startswith("--")
    }
    return own.union(*(options(inner) for inner in below))


def test_there_is_a_page_for_each_command_and_one_that_lists_them() -> None:
    assert sorted(PAGES) == sorted(["ghp-agents.1", *(f"ghp-{name}.1" for name in COMMANDS)])
    for name in COMMANDS:
        assert f".BR ghp\\-{name} (1)".replace("agent-", "agent\\-") in PAGES["ghp-agents.1"]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_has_every_option_of_its_command_and_its_example(name: str) -> None:
    command = app.get_command(click.Context(app), name)
    assert command is not None
    page = PAGES[f"ghp-{name}.1"].replace("\\-", "-")
    assert {option for option in options(command) if option not in page} == set()
    assert f".EX\nghp {name}" in page


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_groff_finds_nothing_to_warn_of(tmp_path: Path) -> None:
    for name, text in PAGES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    command = ["groff", "-ww", "-man", "-Tutf8", "-K", "utf8", *sorted(PAGES)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_text_that_roff_would_take_for_commands_is_shown_as_it_is() -> None:
    from tools.man_pages import _text

    assert _text(".ghp/x --as\n 'a' \\d") == "\\&.ghp/x \\-\\-as 'a' \\ed"
