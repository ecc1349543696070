"""The files of channels in a sync, and the conversations that are over."""

import math

from ghp_agents.core.errors import GhpError
from ghp_agents.messages import mailbox, retention
from ghp_agents.messages import service as messages
from ghp_agents.messages.channels import channel_list
from ghp_agents.ports import Context, Snapshot
from ghp_agents.state.join import Settled


def refresh_channels(ctx: Context) -> list[str]:
    """Write the files of channels again; return notes. Only a person's own command sends what they
    wrote there."""
    if channel_list.path(ctx.ws) is None:
        return []
    from ghp_agents.messages import channel_files

    try:
        return channel_files.refresh(ctx)
    except GhpError as error:
        return [str(error)]


def settled(ctx: Context, snapshot: Snapshot, messages_before: float) -> list[Settled]:
    """The conversations that were over by a time in seconds."""
    if messages_before == -math.inf:
        return []
    letters = messages.known_letters(ctx, snapshot, everything=True)
    return retention.settled(mailbox.everything(snapshot), letters, messages_before)
