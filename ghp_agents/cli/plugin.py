"""`agent-plugin`: render the plugin for a client, and print how to install it."""

import shlex
from pathlib import Path

import click

from ghp_agents.cli import guards, output
from ghp_agents.integrations.clients import claude_plugin as services
from ghp_agents.integrations.clients import config_files
from ghp_agents.integrations.clients.install import python_in
from ghp_agents.wiring import App


@click.command("agent-plugin", epilog="Example: ghp agent-plugin claude")
@click.argument("client", type=click.Choice([services.CLIENT]))
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Only say what would be written.")
@click.pass_obj
def plugin(app: App, client: str, folder: Path | None, dry_run: bool) -> None:
    """Render the plugin for Claude Code into FOLDER, and print where it is.

    It has hooks, a skill that teaches the commands, and slash commands, and is its own
    marketplace. FOLDER is ours alone; without one it is in your data folder.
    """
    given = folder or services.default_folder(app.environ)
    place = given if given.is_absolute() else app.cwd / given
    steps = services.to_write(place, guards.python())
    if dry_run:
        guards.carry_out(steps, dry_run=True)
        return
    for step in steps:
        step.act()
    if steps:
        files = f"{len(steps)} file{'s' if len(steps) != 1 else ''}"
        output.done(f"Wrote the plugin for Claude Code: {files}.")
    else:
        output.done("Nothing to do: the plugin is as this version makes it.")
    output.data(output.clean(str(place)))
    where = shlex.quote(str(place))
    for target in config_files.of_user(app.environ, [client]):
        if python_in(target):
            output.warn(
                f"{target.shown} has the hooks, too: with the plugin each would run twice.",
                "Take them out: `ghp agent-init --hooks claude --user --remove`.",
            )
    output.say(f"Install it: claude plugin install {services.NAME} --marketplace {where} -y")
