"""`agent-export`: conversations as Markdown files."""

from pathlib import Path

import click

from ghp_agents.cli import complete, output
from ghp_agents.cli.params import seconds_of
from ghp_agents.cli.views import remote_news
from ghp_agents.core.clock import FORMS
from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import count
from ghp_agents.messages import mailbox
from ghp_agents.messages import service as services
from ghp_agents.wiring import App


@click.command("agent-export", epilog="Example: ghp agent-export --to ~/agents --since yesterday")
@click.option(
    "--to", "folder", metavar="DIR", required=True, type=click.Path(path_type=Path),
    help="The folder; created if it is missing.",
)  # fmt: skip
@click.option(
    "--since", metavar="WHEN", help=f"Only conversations with messages since then: {FORMS}.",
    shell_complete=complete.times,
)  # fmt: skip
@click.pass_obj
def export(app: App, folder: Path, since: str | None) -> None:
    """Write conversations as Markdown: one file each, and a timeline of all messages.

    Run again, it updates only files that it wrote. What agents and people wrote is quoted.
    """
    from ghp_agents.reports import conversations
    from ghp_agents.reports import export as files

    then = seconds_of(since, app.ws.clock.now()) if since else None
    remote_news.hear(app)
    snapshot = app.store.snapshot()
    messages = mailbox.everything(snapshot)
    letters = services.known_letters(app, snapshot, everything=True)
    pages = conversations.pages(messages, letters, then)
    if not pages:
        output.say("No messages." if then is None else "No messages since then.")
        return
    try:
        place = app.cwd / folder.expanduser()
    except RuntimeError:
        raise UsageError(
            f"There is no home folder for {folder.parts[0]}.", hint="Name a folder: --to ./agents."
        ) from None
    changed = files.write(place, pages)
    many = count(len(pages) - 1, "conversation")
    if changed:
        where = output.clean(str(place))
        output.done(f"Exported {many} to {where}: {count(changed, 'file')} written.")
    else:
        output.done(f"Nothing to do: {output.clean(str(place))} has the {many} already.")
