"""Writes docs/COMMANDS.md and all other generated pages and parts of pages: `make docs`."""

import json
from collections.abc import Iterator
from pathlib import Path

import click

from ghp_agents.cli.app import COMMANDS, app
from ghp_agents.core.errors import ExitCode
from ghp_agents.settings.schema import AgentsConfig, UpstreamConfig
from tools import client_docs, pages, schemas

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

DETAILS = {  # for fields whose one-line description is not enough
    "remote": "the remote that clones share state through; `null`: `origin`, or the only one",
    "trunk": "the main branch; `null`: detected from the remote, `main` or `master`",
    "capabilities": 'what agents can do, as people describe it: `{"worker-1": ["code", "tests"]}`',
    "shared": "`.gitignore` patterns of files that only orchestrators or agents with approval may "
    'change: `["README.md", "*.lock"]`',
    "shared_owners": 'owners in CODEOWNERS whose files are also shared: `["@acme/core"]`',
    "orchestrators": 'agents that may change shared files and answer for people: `["lead"]`',
    "implicit_leases": "whether an agent's first edit of a file leases it in this clone",
    "same_worktree": "what happens to an edit of a file that another agent is editing in the same "
    "worktree, where nothing is merged: `deny`, `warn`",
    "tracker": "where issues are: `github`, `local`; `auto`: on GitHub, if there is a remote on "
    "GitHub and a token",
    "accounts": 'the GitHub logins of agents: `{"worker-1": "acme-bot"}`',
}
VARIABLES = {
    "`GHP_AGENT`": "the agent's name; it overrides the worktree's name (`agent-whoami --set`)",
    "`GHP_SESSION`": "the session's id; detected for Claude Code, Codex, Gemini and Copilot",
    "`GHP_PERSON`": "`1` allows `--as @me` in a person's own shell that has the variables of an "
    "agent's session. It is not for agents",
    "`GHP_ANCESTORS`": "`0`: do not look for a coding client among the parent processes",
    "`GHP_AGENT_PID`": "the process whose end is the agent's end, on this machine",
    "`GHP_PROMPT`": "set by `agent-start -- CMD`: what the agent needs to begin",
    "`GHP_BACKGROUND`": "`0`: no heartbeat and no command commits or syncs in the background",
    "`GHP_STATE_DIR`": "a folder for presence and outbox if `.git` cannot be written (default: "
    "`$XDG_STATE_HOME`, `~/.local/state`)",
    "`GHP_SPAWN_CONTEXT`": "from upstream GHP: the issue that an agent was started for",
    "`GITHUB_TOKEN`, `GH_TOKEN`": "a token for github.com and `*.ghe.com` (else `gh auth token`)",
    "`GH_ENTERPRISE_TOKEN`, `GITHUB_ENTERPRISE_TOKEN`": "a token for your own server",
    "`GH_HOST`": "the name of your own server",
    "`GHP_GITHUB_API`": "the address of GitHub's API if it does not follow from the server's "
    "name; the token is sent there",
    "`NO_COLOR`": "no colors",
    "`FORCE_COLOR`, `CLICOLOR_FORCE`": "colors and tables also in a pipe or a file",
    "`GHP_PAGER`": "the pager for long output on a terminal (default: git's, `git var GIT_PAGER`); "
    "empty or `cat`: none. Agents get none",
}


def main() -> None:
    """Update all pages."""
    PAGE.write_text(page())
    client_docs.main()
    schemas.main()
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

These options stand before or after any command: `-C FOLDER` (run as if started there), `-q`
(print only data and errors), `-v` (print the git commands and HTTP requests that are run), and
`--no-pager`. `ghp agent-help COMMAND` is `COMMAND --help`. What gh calls `issue list`, `issue view`
and `issue create`, or `pr list`, works after `agent-`, too.

`--json` prints JSON, described in [schemas](schemas/README.md). `--json FIELDS` prints only these
fields, as in `--json number,title`; after a command with any number of arguments it needs `=`.
`--jq EXPR` filters the JSON, and needs the extra `jq`.

`--at WHEN` shows a list as it was, by the times in its records, and changes nothing. A time without
an offset is in this machine's time zone. What has no past, such as locks, is left out and named.

{table()}

| exit code | meaning |
|---|---|
{exits}

## Settings

Settings are in `.ghp/config.json` of the repository, under the key `agents`:
`{{"agents": {{"staleAfter": 900}}}}`. Your own file `~/.config/ghp-cli/config.json` overrides them.
`ghp agent-doctor` reports mistakes with their lines.

{settings()}

ghp-agents also uses these settings of upstream GHP, which are beside `agents`:

{settings(UpstreamConfig)}

## Environment

| variable | what it does |
|---|---|
{environment()}

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


def settings(of: type[AgentsConfig] | type[UpstreamConfig] = AgentsConfig) -> str:
    """Every setting, with its default."""
    rows = ["| setting | default | |", "|---|---|---|"]
    for name, field in of.model_fields.items():
        default = json.dumps(field.get_default(call_default_factory=True))
        rows.append(f"| `{field.alias}` | `{default}` | {DETAILS.get(name) or field.description} |")
    return "\n".join(rows)


def environment() -> str:
    """The variables that the program reads."""
    return "\n".join(f"| {name} | {meaning} |" for name, meaning in VARIABLES.items())


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
            yield _section("###", click.Context(inner, parent=context, info_name=below))


def _section(mark: str, context: click.Context) -> str:
    return f"{mark} `{context.command_path}`\n\n```text\n{context.get_help()}\n```"


if __name__ == "__main__":
    main()
