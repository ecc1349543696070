"""`agent-timeline`: who worked on what, and when."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ghp_agents.cli import complete, json_choice, output
from ghp_agents.cli.context import say_none, start_background
from ghp_agents.cli.params import seconds_of
from ghp_agents.cli.terminal.pager import paged
from ghp_agents.cli.views import remote_news
from ghp_agents.core.clock import FORMS, to_text
from ghp_agents.core.errors import GhpError, UsageError
from ghp_agents.core.ids import count
from ghp_agents.issues import issue as issues
from ghp_agents.wiring import App

if TYPE_CHECKING:
    from ghp_agents.reports.timeline import Timeline

A_DAY = 86_400.0  # seconds


@click.command("agent-timeline", epilog="Example: ghp agent-timeline --since yesterday")
@click.option(
    "--since", metavar="WHEN", help=f"When it begins (default: 24h ago): {FORMS}.",
    shell_complete=complete.times,
)  # fmt: skip
@click.option(
    "--until", metavar="WHEN", help="When it ends (default: now); the same forms as --since.",
    shell_complete=complete.times,
)  # fmt: skip
@click.option(
    "--issue",
    metavar="N",
    help="Show only what is about this issue.",
    shell_complete=complete.issues,
)
@click.option(
    "--html", metavar="FILE", type=click.Path(dir_okay=False),
    help="Write a web page that can zoom and needs no network.",
)  # fmt: skip
@click.option("--svg", metavar="FILE", type=click.Path(dir_okay=False), help="Write a picture.")
@json_choice.option("Print it as JSON.")
@click.pass_obj
def timeline(
    app: App,
    since: str | None,
    until: str | None,
    issue: str | None,
    html: str | None,
    svg: str | None,
    as_json: bool,
) -> None:
    """Show who worked on what, and when: a line for each agent.

    It shows claims, waits, questions, handoffs, deaths and merges of all clones.
    """
    from ghp_agents.cli.views import timeline as view
    from ghp_agents.reports import timeline as parts
    from ghp_agents.reports.read_timeline import read_timeline

    now = app.ws.clock.now()
    end = min(now, seconds_of(until, now)) if until else None
    start = seconds_of(since, now) if since else (end or now) - A_DAY
    if start >= (end or now):
        raise UsageError(
            f"The timeline would end at {to_text(end or now)}, before it begins.",
            hint="Use a --since that is earlier than --until and now.",
        )
    remote_news.hear(app)
    with output.busy("Reading what happened"):
        history = read_timeline(app, start, end)
    if issue is not None:
        history = parts.of_issue(history, issues.find(app.tracker.known(closed=True), issue).number)
    if since is None:
        history = parts.from_first(history)
    if html:
        from ghp_agents.reports import timeline_page

        _write(html, timeline_page.render(history), history)
    if svg:
        from ghp_agents.reports import timeline_svg

        _write(svg, timeline_svg.render(history), history)
    if as_json:
        output.as_json(history)
    elif html or svg:
        pass
    elif history.lanes:
        with paged():
            for line in view.lines(history, shutil.get_terminal_size().columns):
                output.painted(line)
    else:
        say_none(app, f"No agent did anything since {to_text(start)}.")
    start_background(app)


def _write(place: str, text: str, history: "Timeline") -> None:
    """Write a file. Raises GhpError if that fails."""
    try:
        Path(place).write_text(text, encoding="utf-8")
    except OSError as error:
        raise GhpError(
            f"Cannot write {place}: {error.strerror}.", hint="Name another file or folder."
        ) from None
    size = f"{len(text.encode()) / 1024:,.0f} KB"
    output.done(f"Wrote {place}: {count(len(history.lanes), 'agent')}, {size}.")
