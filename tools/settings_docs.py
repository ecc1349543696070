"""Writes docs/settings.md, the settings and environment variables: part of `make docs`."""

import json
from pathlib import Path

from ghp_agents.settings.schema import AgentsConfig, UpstreamConfig

PAGE = Path(__file__).parents[1] / "docs/settings.md"

DETAILS = {  # for fields whose one-line description is not enough
    "remote": "the remote that clones share state through; `null`: `origin`, or the only one",
    "trunk": "the main branch; `null`: the default branch of the remote, else `main`, `master`, or "
    "the only branch",
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
    "`GHP_PORT`": "set in each worktree but the main one, for its sessions, set-up command, checks "
    "and runs: a port of its own, free when it was chosen; so are the next nine",
    "`GHP_SLOT`": "set where `GHP_PORT` is: a name of its own, such as for a database",
    "`GHP_PROMPT`": "set by `agent-start -- CMD`: what the agent needs to begin",
    "`GHP_LAUNCH`": "set by `agent-start --run` and `agent-start -- CMD`: which start it was",
    "`GHP_PROMPT_FILE`": "set by `agent-work` for a runner of your own: a file with that text",
    "`GHP_PROGRESS`": "set by `agent-tasks start`: a file to which a task adds its steps",
    "`GHP_RUN`": "set by `agent-work`: the run that a process belongs to",
    "`GHP_RIGHTS`": "set by `agent-work`: the file with what the agent's card allows in a run",
    "`GHP_FINISH_LATER`": "set by `agent-work` in a sandbox: the file with what it sends later",
    "`GHP_STORED_LOGINS`": "set by `agent-work`: the former values of variables that hide logins",
    "`GHP_SPAWNED`": "set for processes in the background: they leave a part of GitHub's requests "
    "to people",
    "`GHP_MESSAGE`": "set by `agent-inbox --follow --exec`: the id of the message",
    "`GHP_REPLY_TO`": "set by the same: the id of the message that it answers",
    "`GHP_BACKGROUND`": "`0`: no heartbeat and no command commits or syncs in the background",
    "`GHP_TRIAL`": "set by `agent-start` and `agent-doctor`: git's hook only says that it runs, "
    "and refuses the commit",
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
    """Update the page."""
    PAGE.write_text(page())


def page() -> str:
    """The whole of docs/settings.md."""
    return f"""# Settings and environment

`make docs` writes this page from the code.

## Settings

Settings are in `.ghp/config.json` of the repository, under the key `agents`:
`{{"agents": {{"staleAfter": 900}}}}`. Your own file `~/.config/ghp-cli/config.json` overrides them.
`ghp agent-doctor` reports mistakes with their lines. While a file cannot be read, its last values
stay in force; of those that need your consent, the last that you agreed to. Times are in seconds.

{settings()}

ghp-agents also uses these settings of upstream GHP, which are beside `agents`:

{settings(UpstreamConfig)}

## Environment variables

| variable | what it does |
|---|---|
{environment()}
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
