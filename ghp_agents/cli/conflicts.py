"""`agent-conflicts`: who would conflict with whom if all work were merged now."""

from typing import TYPE_CHECKING

import click

from ghp_agents.cli import complete, json_choice, output
from ghp_agents.cli.context import acting
from ghp_agents.cli.terminal.signals import exit_on_signals
from ghp_agents.cli.views import remote_news
from ghp_agents.conflicts import service as services
from ghp_agents.core.errors import ExitCode
from ghp_agents.core.ids import agent_name
from ghp_agents.wiring import App

if TYPE_CHECKING:
    from ghp_agents.conflicts.report import ConflictReport

WATCH_EVERY = 2.0  # seconds
PAUSE = 4  # times as long as one look takes, so that watching uses a fifth of a core


@click.command("agent-conflicts", epilog="Example: ghp agent-conflicts worker-1")
@click.argument("agent", required=False, shell_complete=complete.agents)
@click.option("--trunk", is_flag=True, help="Only compare with the main branch.")
@json_choice.option("Print JSON; with --watch, one object per line.")
@click.option("--watch", is_flag=True, help="Print it again after each change.")
@acting
def conflicts(app: App, agent: str | None, trunk: bool, as_json: bool, watch: bool) -> None:
    """Show whose work would conflict, with others or with main, if all of it were merged now.

    Uncommitted changes and new files count. For agents in other clones, only the branches count
    that were pushed there and fetched here. If another agent took a branch over, it counts as that
    agent's. Also prints the merge order in which the fewest agents must resolve conflicts.

    With the extra `syntax`, warns where an agent's new lines use a definition that another agent
    renamed or removed. Git merges that without a conflict.

    It compares with main as last fetched. Git merges the work in a temporary folder. Worktrees,
    branches and your index stay untouched, and no merge driver or filter runs. Exits with 3 if
    anything conflicts.
    """
    name = agent_name(agent) if agent is not None else None
    with exit_on_signals():  # the temporary folder is removed
        if watch:
            _watch(app, name, trunk=trunk, as_json=as_json)
            return
        remote_news.hear(app)
        report = remote_news.after_asking(app, lambda: _survey(app, name, trunk=trunk))
    _print(app, report, name, as_json=as_json, line=False)
    if not report.is_clean:
        raise click.exceptions.Exit(int(ExitCode.REFUSED))


def _survey(app: App, name: str | None, *, trunk: bool) -> "ConflictReport":
    with output.busy("Merging"):
        return services.survey(app, name, trunk_only=trunk)


def _print(
    app: App, report: "ConflictReport", name: str | None, *, as_json: bool, line: bool
) -> None:
    from ghp_agents.cli.views import conflicts as view

    if as_json:
        (output.as_json_line if line else output.as_json)(view.document(report))
    else:
        view.show(report, app.ws.clock.now(), name)


def _watch(app: App, name: str | None, *, trunk: bool, as_json: bool) -> None:
    """Print the report, and again after each change, until interrupted."""
    clock, shown = app.ws.clock, None
    try:
        while True:
            started = clock.interval()[1]
            if remote_news.is_due(app):
                remote_news.tell_trouble(app, remote_news.ask(app))
            report = services.survey(app, name, trunk_only=trunk)
            if report != shown:
                if shown is not None and not as_json:
                    output.data("\n")
                _print(app, report, name, as_json=as_json, line=True)
                output.flush()
            shown = report
            clock.wait(max(WATCH_EVERY, PAUSE * (clock.interval()[1] - started)))
    except KeyboardInterrupt:
        return
