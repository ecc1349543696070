"""The `ghp agent-start` that a text names, as it works where the text is read."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ghp_agents.hotpath import heartbeat, own_name

if TYPE_CHECKING:
    from ghp_agents.workspace import Workspace

# What `--run` takes, and how each client begins an interactive session with a prompt.
CLIENTS: Mapping[str, tuple[str, ...]] = {
    "claude": ("claude",),
    "codex": ("codex",),
    "gemini": ("gemini", "--prompt-interactive"),
    "opencode": ("opencode", "--prompt"),
    "cursor": ("cursor-agent",),
    "copilot": ("copilot", "--interactive"),
    "qwen": ("qwen", "--prompt-interactive"),
    "pi": ("pi",),
}
NEXT = "--next"
ANYBODY = "NAME"


def of_agent(issue: int | str, agent: str, kind: str = "") -> str:
    """The command by which a person lets an agent work on an issue, with the client that it had.
    Without a known `kind`, the command prints how to start a client by hand."""
    run = f" --run {kind}" if kind in CLIENTS else ""
    name = agent if heartbeat.is_name(agent) else ANYBODY  # a record may say anything
    return f"ghp agent-start {issue} --as {name}{run}"


def of_reader(ws: "Workspace", issue: int | str = NEXT) -> str:
    """The command by which the one who reads this starts: with a name, if none is known here."""
    own = own_name.whoami(ws.place, ws.environ)
    name = ws.chosen_name or own or ANYBODY  # `@me` is a person
    return f"ghp agent-start {issue}" if name == own else of_agent(issue, name)
