"""Writes docs/COMMANDS.md and the README's table from the commands themselves: `make docs`."""

from collections.abc import Iterator
from pathlib import Path

import click

from ghp_agents.cli.app import COMMANDS, app
from ghp_agents.errors import ExitCode

CHECKOUT = Path(__file__).parents[1]
PAGE = CHECKOUT / "docs/COMMANDS.md"
README = CHECKOUT / "README.md"
BEGIN, END = "<!-- commands: written by `make docs` -->", "<!-- commands: end -->"
WIDTH = 88

MEANINGS = {
    ExitCode.DONE: "done",
    ExitCode.ERROR: "an error; it says what, why and what next",
    ExitCode.USAGE: "the words of the command are wrong; nothing was done",
    ExitCode.REFUSED: "refused: held by another, or needs approval",
    ExitCode.UNKNOWN: "unknown: the answer depends on a remote that cannot be reached",
    ExitCode.NOT_SET_UP: "not set up: no repository, no name, or no configuration",
}


def main() -> None:
    """Bring both files up to date."""
    PAGE.write_text(page())
    README.write_text(with_table(README.read_text()))


def page() -> str:
    """The whole of docs/COMMANDS.md."""
    exits = "\n".join(f"| {int(code)} | {MEANINGS[code]} |" for code in ExitCode)
    parts = "\n\n".join(command for name in COMMANDS for command in described(name))
    return f"""# Commands

Written by `make docs` from the commands themselves; each also prints its part with `--help`.
Data goes to standard output, everything else to standard error. `ghp-agents` is the same program
as `ghp`, under a name that never collides.

{table()}

| exit code | meaning |
|---|---|
{exits}

{parts}
"""


def table() -> str:
    """One line for each command, under its group."""
    rows, last = [], ""
    for name, row in COMMANDS.items():
        group = row.group if row.group != last else ""
        rows.append(f"| {group} | `{name}` | {row.line} |")
        last = row.group
    return "\n".join(["| | command | |", "|---|---|---|", *rows])


def with_table(readme: str) -> str:
    """The README with the present table between its two marks."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    assert END in rest, f"README.md needs the lines {BEGIN} and {END}"
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def described(name: str) -> Iterator[str]:
    """The help of a command, and of the commands below it."""
    program = click.Context(
        app, info_name="ghp", max_content_width=WIDTH, terminal_width=WIDTH, **app.context_settings
    )
    command = app.get_command(program, name)
    assert command is not None
    context = click.Context(command, parent=program, info_name=name)
    yield _section("##", context)
    if isinstance(command, click.Group):
        for below, inner in sorted(command.commands.items()):
            yield _section("###", click.Context(inner, parent=context, info_name=below))


def _section(mark: str, context: click.Context) -> str:
    return f"{mark} `{context.command_path}`\n\n```text\n{context.get_help()}\n```"


if __name__ == "__main__":
    main()
