"""`agent-heartbeat` and `agent-whoami`: presence and identity."""

import sys
from typing import Any

import click

from ghp_agents.cli import complete, output, statuses
from ghp_agents.cli.context import acting, log_unexpected, start_background
from ghp_agents.cli.list_option import ListOption
from ghp_agents.cli.params import METADATA
from ghp_agents.cli.views import status_notes
from ghp_agents.core.errors import GhpError, UsageError
from ghp_agents.core.ids import agent_name, status_name
from ghp_agents.core.metadata import Metadata, as_object
from ghp_agents.hotpath import background
from ghp_agents.hotpath import heartbeat as heartbeats
from ghp_agents.presence import namesakes, same_name
from ghp_agents.presence import service as services
from ghp_agents.state.presence import METADATA as FIELD
from ghp_agents.wiring import App


@click.command(
    "agent-heartbeat",
    epilog="Example: ghp agent-heartbeat --status testing --issue 12 --action 'Running the tests'",
)
@statuses.OPTION
@click.option(
    "--issue", metavar="NUMBER", help="The issue it works on; 0 for none.",
    shell_complete=complete.issues,
)  # fmt: skip
@click.option("--action", metavar="TEXT", help="What it did last, in one line.")
@click.option("--progress", is_flag=True, help="Report progress.")
@acting
def heartbeat(
    app: App, status: str | None, issue: str | None, action: str | None, progress: bool
) -> None:
    """Report that this agent is alive and what it is doing.

    Prints only mistakes in its options, and always exits with 0, because hooks call it.
    """
    try:
        fields = _fields(status, issue, action)
        agent = app.ws.agent()
        beaten = services.heartbeat(app.ws, app.store, agent, fields, progress=progress)
        settings = {"background": app.ws.settings.background}
        background.start_sync(
            app.ws.folders, app.environ, app.ws.clock.now(), settings, urgent=beaten == "moved"
        )
    except (GhpError, OSError) as error:
        log_unexpected(error)
        if isinstance(error, UsageError) or sys.stderr.isatty():
            output.error(str(error), getattr(error, "hint", ""))


def _fields(status: str | None, issue: str | None, action: str | None) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if status is not None:
        fields["status"] = status_name(status)
    if issue is not None:
        number = issue.removeprefix("#")
        if not (number.isascii() and number.isdigit() and len(number) < 16):
            raise UsageError(
                f"{issue[:40]!r} is not an issue.", hint="Give its number: --issue 12."
            )
        fields["issue"] = int(number) or None
    if action is not None:
        fields["lastAction"] = heartbeats.clean_action(action)
    return fields


@click.command("agent-whoami", epilog="Example: ghp agent-whoami --set worker-1")
@click.option(
    "--set", "name", metavar="NAME", help="Name the agent of this worktree.",
    shell_complete=complete.agents,
)  # fmt: skip
@click.option(
    "--capability", "capabilities", metavar="WORD", cls=ListOption,
    help="Declare what this agent can do. `none` forgets all.",
)  # fmt: skip
@METADATA
@acting
def whoami(
    app: App, name: str | None, capabilities: tuple[str, ...], metadata: Metadata | None
) -> None:
    """Print this agent's name. With --set, name the agent of this worktree.

    An agent that declares capabilities gets only issues that require nothing else. The setting
    `agents.capabilities` overrides what it declares.
    """
    ws = app.ws
    if metadata is not None:
        services.heartbeat(ws, app.store, ws.agent(), {FIELD: as_object(metadata)})
        output.done(f"Saved the metadata of {ws.agent()}.")
        start_background(app)
    if capabilities:
        _declare(app, capabilities)
    if capabilities or metadata is not None:
        return
    if name is not None:
        same_name.refuse(app, name)
        mine = services.rename(ws, app.store, agent_name(name))
        output.done(f"This worktree's agent is {name}.")
        if mine != name:
            output.warn(*namesakes.renamed(name, mine))
        if ws.environ.get("GHP_AGENT") not in (None, "", name):
            output.warn(
                f"GHP_AGENT={ws.environ['GHP_AGENT']} is set and overrides it.",
                "Unset it, or set it to the same name.",
            )
        start_background(app)
        return
    output.data(ws.agent())
    status_notes.warn_of_rivalries(x for x in services.rivalries(ws) if x.agent == ws.agent())


def _declare(app: App, words: tuple[str, ...]) -> None:
    from ghp_agents.presence import capabilities

    agent = app.ws.agent()
    declared = capabilities.declare(app.ws, app.store, agent, words)
    output.done(
        f"{agent} can do {', '.join(declared)}."
        if declared
        else f"{agent} declares no capabilities, so it can get every issue."
    )
    start_background(app)
