"""The files of channels, when a command runs: what a person wrote is sent, and they are current."""

from ghp_agents.cli import output
from ghp_agents.cli.context import send
from ghp_agents.core.errors import GhpError
from ghp_agents.wiring import App


def refresh(app: App) -> None:
    """Send what a person wrote below a channel's file, if one runs this command; then write the
    files again. Without `.ghp/channels.yaml`, nothing."""
    root = app.ws.main_worktree
    if root is None or not (root / ".ghp/channels.yaml").is_file():
        return
    from ghp_agents.core.person import agent_here
    from ghp_agents.messages import channel_files

    try:
        takes = agent_here(app.environ) is None and app.ws.actor().is_person
        notes = channel_files.refresh(app, takes=takes)
    except GhpError as error:
        output.warn(output.clean(str(error)), error.hint)
        return
    for note in notes:
        output.say(output.clean(note))
    if notes and takes:
        send(app)
