"""Options for a status: any word is accepted, and one that is not known gets a warning."""

import click

from ghp_agents.cli import complete, output
from ghp_agents.cli.terminal.closest import closest
from ghp_agents.core.ids import KNOWN_STATUSES
from ghp_agents.hotpath import heartbeat


def _check(ctx: click.Context, _: click.Parameter, value: str | None) -> str | None:
    is_new = value is not None and heartbeat.is_status(value) and value not in KNOWN_STATUSES
    if is_new and not ctx.resilient_parsing:
        alike = closest(value or "", KNOWN_STATUSES)
        meant = f"Did you mean {' or '.join(alike)}? " if alike else ""
        output.warn(
            f"{value!r} is not a known status; it is saved as it is.",
            f"{meant}Known: {', '.join(KNOWN_STATUSES)}.",
        )
    return value


OPTION = click.option(
    "--status", metavar="STATUS", callback=_check, shell_complete=complete.statuses,
    help="What the agent does: implementing, blocked, …",
)  # fmt: skip

SET = click.option(
    "--set", "new_status", metavar="STATUS", callback=_check, shell_complete=complete.statuses,
    help="Set this agent's own status.",
)  # fmt: skip
