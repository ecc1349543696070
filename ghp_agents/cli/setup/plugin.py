"""`agent-plugin`: render the plugin for a client, and print how to install it."""

import shlex
from importlib.util import find_spec
from pathlib import Path

import click

from ghp_agents.cli import output
from ghp_agents.cli.setup import guards
from ghp_agents.core.ids import count
from ghp_agents.integrations.clients import claude_plugin as services
from ghp_agents.integrations.clients import config_files
from ghp_agents.integrations.clients.install import python_in
from ghp_agents.wiring import App


@click.command("agent-plugin", epilog="Example: ghp agent-plugin claude")
@click.argument("client", type=click.Choice([services.CLIENT]))
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Only print what would be written.")
@click.pass_obj
def plugin(app: App, client: str, folder: Path | None, dry_run: bool) -> None:
    """Write the plugin for Claude Code to FOLDER, and print its path.

    The plugin has hooks, slash commands, a skill that teaches the commands, and the tool server
    (needs the extra `mcp`). FOLDER must contain nothing else; the default is in your data folder.
    FOLDER is also the marketplace to install from.
    """
    given = folder or services.default_folder(app.environ)
    place = given if given.is_absolute() else app.cwd / given
    has_tools = find_spec("mcp") is not None
    steps = services.to_write(place, guards.python(), tools=has_tools)
    if dry_run:
        guards.carry_out(steps, dry_run=True)
        return
    for step in steps:
        step.act()
    if steps:
        files = count(len(steps), "file")
        output.done(f"Wrote the plugin for Claude Code: {files}.")
    else:
        output.done("Nothing to do: the plugin is up to date.")
    output.data(output.clean(str(place)))
    where = shlex.quote(str(place))
    for target in config_files.of_user(app.environ, [client]):
        if python_in(target):
            output.warn(
                f"{target.shown} has the hooks, too, so with the plugin each would run twice.",
                "Remove them: `ghp agent-init --hooks claude --user --remove`.",
            )
    output.say(f"Install it with: claude plugin install {services.NAME} --marketplace {where} -y")
