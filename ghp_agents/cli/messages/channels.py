"""The files of channels, when a command runs: they are current, and what a person wrote is sent."""

from contextlib import suppress
from pathlib import Path

import click

from ghp_agents.cli import output
from ghp_agents.cli.context import is_interactive, send
from ghp_agents.core.errors import GhpError, RefusedError, UsageError
from ghp_agents.hotpath import heartbeat
from ghp_agents.hotpath.quoting import named
from ghp_agents.presence import people
from ghp_agents.wiring import App
from ghp_agents.workspace import MYSELF

NOTES = "channel-writes"  # beside agents' presence, by `hooks/persons_files.py`


def refresh(app: App, *, yes: bool = False) -> None:
    """Send what stands below a channel's file, if a person runs this command and says that they
    wrote it; then write the files again. `yes`: they have said it. Without `.ghp/channels.yaml`,
    nothing."""
    root = app.ws.main_worktree
    if root is None or not (root / ".ghp/channels.yaml").is_file():
        return
    from ghp_agents.core.person import agent_here
    from ghp_agents.messages import channel_files

    def confirms(shown: str, text: str) -> bool:
        if not (yes or is_interactive()):
            return False
        output.say(output.clean(f"Below the last block of {shown}:"))
        for line in text.splitlines():
            output.say(f"  | {output.clean(line)}")
        for agent in _writers(app, shown):
            output.warn(f"A command of {named(agent)} wrote in this file.")
        return yes or click.confirm("Did you write this, and shall it be sent?", err=True)

    try:
        is_person = agent_here(_marks(app)) is None and app.ws.actor().is_person
        notes = channel_files.refresh(app, confirms if is_person else None)
    except GhpError as error:
        output.warn(output.clean(str(error)), error.hint)
        return
    for note in notes:
        output.say(output.clean(note))
    if notes and is_person:
        send(app)


def send_written(app: App, *, yes: bool) -> None:
    """Send what the person wrote in the files of channels. Raises RefusedError for an agent."""
    people.refuse(_marks(app), MYSELF, None, ())
    if not app.ws.actor().is_person:
        raise UsageError(
            "Only a person writes in the files of channels.", hint=f"Add `--as {MYSELF}`."
        )
    if not yes and not is_interactive():
        raise RefusedError(
            "Nothing was sent: there is no terminal to ask whether you wrote it.",
            hint="Read the files in .ghp/channels, then use --yes.",
        )
    refresh(app, yes=yes)


def _writers(app: App, shown: str) -> list[str]:
    """The agents whose commands wrote in a file, as their clients' hooks noted."""
    rows: list[list[str]] = []
    for folder in app.ws.folders:
        with suppress(OSError, UnicodeDecodeError):
            rows += [row.split(" ", 1) for row in Path(folder, NOTES).read_text().splitlines()]
    name = shown.rpartition("/")[2]
    return [*dict.fromkeys(x[0] for x in rows if x[1:] == [name] and heartbeat.is_name(x[0]))]


def _marks(app: App) -> dict[str, str]:
    """The environment without the word that a person is here: any agent can set it."""
    return {name: value for name, value in app.environ.items() if name != heartbeat.PERSON}
