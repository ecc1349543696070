"""Writes docs/COMMANDS.md and all other generated pages and parts of pages: `make docs`."""

from collections.abc import Iterator
from pathlib import Path

import click

from ghp_agents.cli.app import COMMANDS, app
from ghp_agents.core.errors import ExitCode
from tools import api_docs, client_docs, event_docs, pages, schemas, settings_docs

CHECKOUT = Path(__file__).parents[1]
PAGE = CHECKOUT / "docs/COMMANDS.md"
WIDTH = 88

MEANINGS = {
    ExitCode.DONE: "done",
    ExitCode.ERROR: "an error; the message says what, why and what next",
    ExitCode.USAGE: "usage error; nothing was changed",
    ExitCode.REFUSED: "refused: held by another, or needs approval",
    ExitCode.UNKNOWN: "unknown: the answer depends on a remote that cannot be reached",
    ExitCode.NOT_SET_UP: "not set up: no repository, no name, or no configuration",
}


def main() -> None:
    """Update all pages."""
    PAGE.write_text(page())
    client_docs.main()
    schemas.main()
    settings_docs.main()
    event_docs.main()
    api_docs.main()
    pages.main()


def page() -> str:
    """The whole of docs/COMMANDS.md."""
    exits = "\n".join(f"| {int(code)} | {MEANINGS[code]} |" for code in ExitCode)
    parts = "\n\n".join(command for name in COMMANDS for command in described(name))
    return f"""# Commands

`make docs` writes this page from the commands. Each command prints its own part with `--help`.
Data goes to standard output, everything else to standard error. `ghp-agents` is the same program
as `ghp`; use that name if another program is called `ghp`. `ghpa` is its short name, without the
prefix: `ghpa status` is `ghp agent-status`.

These options may stand before or after any command: `-C FOLDER` (run as if started there), `-q`
(print only data and errors), `-v` (print the git commands and HTTP requests that are run), and
`--no-pager`. `ghp agent-help COMMAND` is `COMMAND --help`. Names of gh work
after `agent-`, too: `issue list`, `issue view`, `issue create`, `pr list`.

`--json` prints JSON, described in [schemas](schemas/README.md). `--json FIELDS` prints only these
fields, as in `--json number,title`. After a command that takes many arguments, write
`--json=number,title`. `--jq EXPR` filters the JSON, and needs the extra `jq`.

`--at WHEN` shows a list as it was, by the times in its records, and changes nothing. A time without
an offset is in this machine's time zone. Data without a history, such as locks, is
left out, and a message names it.

{table()}

[Settings and environment variables](settings.md) have a page of their own.

## Exit codes

| exit code | meaning |
|---|---|
{exits}

## Completion

The static scripts complete commands, options, choices and files, and start no program:

```sh
ghp-agents completion bash >> ~/.bashrc
ghp-agents completion zsh >> ~/.zshrc
ghp-agents completion fish > ~/.config/fish/completions/ghp.fish
```

Print the script again after an upgrade. To complete issues and agents as well, add one of these
lines to your shell's startup file instead; each tab then starts Python:

```sh
eval "$(_GHP_COMPLETE=bash_source ghp)"                # ~/.bashrc
eval "$(_GHP_COMPLETE=zsh_source ghp)"                 # ~/.zshrc
_GHP_COMPLETE=fish_source ghp | source                 # ~/.config/fish/config.fish
eval "$(_GHP_AGENTS_COMPLETE=bash_source ghp-agents)"  # for the other name
```

## Man pages

A wheel brings one for each command, and one for the whole: `man ghp-agents`, `man ghp agent-claim`.

{parts}
"""


def table() -> str:
    """One row for each command, by group."""
    rows, last = [], ""
    for name, row in COMMANDS.items():
        group = row.group if row.group != last else ""
        rows.append(f"| {group} | `{name}` | {row.line} |")
        last = row.group
    return "\n".join(["| | command | |", "|---|---|---|", *rows])


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
            if not inner.hidden:
                yield _section("###", click.Context(inner, parent=context, info_name=below))


def _section(mark: str, context: click.Context) -> str:
    return f"{mark} `{context.command_path}`\n\n```text\n{context.get_help()}\n```"


if __name__ == "__main__":
    main()
