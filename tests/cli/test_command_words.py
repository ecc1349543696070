"""The page about the words of the commands names each command and option, and no more than 40."""

import re
from collections.abc import Iterator
from pathlib import Path

import click

from ghp_agents.cli.app import COMMANDS, app

PAGE = Path(__file__).parents[2] / "docs/design/079-the-words-of-the-commands.md"
NAME = re.compile(r"agent-\w+(?: [a-z]+)?")


def rows(heading: str) -> Iterator[list[str]]:
    """The cells of a section's table."""
    section = PAGE.read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("|")]
    return ([cell.strip() for cell in line.strip("|").split("|")] for line in table[2:])


def verbs() -> dict[str, list[str]]:
    """The commands that there will be, each with its verbs."""
    return {name.strip("`"): re.findall(r"\w+", below) for name, below, _ in rows("Commands")}


def commands() -> Iterator[tuple[str, click.Command]]:
    """All commands of today, and those below them."""
    context = click.Context(app, info_name="ghp")
    for name in COMMANDS:
        command = app.get_command(context, name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {verb}", below) for verb, below in command.commands.items())


def test_each_command_of_today_stays_or_has_a_new_name() -> None:
    stay = {*verbs()} | {f"{name} {verb}" for name, below in verbs().items() for verb in below}
    renamed = {match[0] for old, _, _ in rows("Old names") if (match := NAME.search(old))}
    old_groups = {name.partition(" ")[0] for name in renamed}
    assert [name for name, _ in commands() if name not in stay | renamed | old_groups] == []


def test_there_are_at_most_forty_commands_and_each_new_name_is_one_of_them() -> None:
    assert len(verbs()) <= 40
    for _, new, when in rows("Old names"):
        match = NAME.search(new)
        assert match is not None
        name, _, verb = match[0].partition(" ")
        assert verb in ["", *verbs()[name]], new
        assert when == "last"


def test_each_option_of_the_table_is_one_of_today() -> None:
    existing = {
        name for _, command in commands() for option in command.params for name in option.opts
    }
    listed = {name for cell, _, _ in rows("Options") for name in re.findall(r"--[a-z-]+", cell)}
    assert listed - existing == set()
