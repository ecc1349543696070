"""Commands that upstream's `ghp` calls: for its dashboard and for its events."""

from pathlib import Path

import click

from ghp_agents.cli import output
from ghp_agents.cli.context import log_unexpected
from ghp_agents.core.errors import GhpError
from ghp_agents.wiring import App


@click.command(
    "agent-dashboard", epilog="Example: ghp agent-dashboard --branch ada/12-parser --repo acme/it"
)
@click.option("--branch", metavar="BRANCH", required=True, help="The branch to show.")
@click.option(
    "--repo", metavar="OWNER/NAME", help="Its repository (default: the current folder's)."
)
@click.pass_obj
def dashboard(app: App, branch: str, repo: str | None) -> None:
    """Answer upstream ghp's dashboard with JSON: who works on a branch, and what they ask.

    Errors are part of the answer; it always exits with 0.
    """
    from ghp_agents.integrations.upstream_ghp import dashboard as services

    try:
        answer = services.dashboard(app, branch)
    except (GhpError, OSError) as error:
        answer = services.failed(str(error))
    output.as_json(answer)


@click.command("agent-event", epilog="Example: ghp agent-event pr-merged /tmp/ghp-event-3f9a.json")
@click.argument("event")
@click.argument("file", type=click.Path(path_type=Path))
@click.pass_obj
def event(app: App, event: str, file: Path) -> None:
    """Handle an event from upstream ghp. Prints nothing and always exits with 0."""
    from ghp_agents.integrations.upstream_ghp import events as upstream_event

    try:
        payload = upstream_event.payload(app.cwd / file)
        upstream_event.follow(app, event, payload)
    except (GhpError, OSError) as error:
        log_unexpected(error)
