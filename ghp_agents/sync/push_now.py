"""Push local records soon, even if no other command runs.

Hosts limit the rate of calls, so a record written just after a sync must wait. A background
process stays to push it. Otherwise the last record would wait for the next command.
"""

from contextlib import ExitStack

from ghp_agents.core import files
from ghp_agents.core.errors import GhpError
from ghp_agents.hotpath.background import SPAWN_PAUSE
from ghp_agents.ports import Context
from ghp_agents.state.join import SyncReport
from ghp_agents.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.github.api.repository import GitHubRepository

LOCK = "deliver.lock"  # only one process of a clone stays
LONGEST_STAY = 60.0  # seconds; records that must wait longer go with a later heartbeat
TIMEOUT_S = 1.0  # seconds; the staying process takes less from its last look to its end


def deliver(ctx: Context, hub: "GitHubRepository | None" = None) -> None:
    """Sync, no more often than hosts advise, until nothing is left that can be pushed soon."""
    from ghp_agents.sync.service import sync

    stays = has_looked_again = False
    with ExitStack() as held:
        while True:
            report = sync(ctx, paced=True, hub=hub)
            pause = _pause(ctx.ws, report)
            if pause is not None:
                # The staying process may sleep for long, so do not leave a short pause to it.
                if not stays and not _is_alone(ctx.ws, held):
                    if pause > SPAWN_PAUSE:
                        return
                else:
                    stays = True
                has_looked_again = False
            elif has_looked_again or report.trouble or report.remote is None:
                return
            else:  # a command that ran since this process started has not started another
                pause, has_looked_again = SPAWN_PAUSE, True
            ctx.ws.clock.wait(pause)
            if not ctx.ws.ghp_dir.is_dir():  # removed meanwhile; a sync would create it again
                return


def send(ctx: Context) -> SyncReport:
    """Sync now, for a waiting command; at least `SPAWN_PAUSE` after the last push, or
    `agents.syncEvery` if that is less. Hosts allow more fetches than pushes.

    The report says if the remote is unreachable. Raises GhpError for local errors.
    """
    status = ctx.exchange.sync_status()
    if status.remote is None:
        return SyncReport(remote=None)
    from ghp_agents.sync.service import sync

    pause = min(SPAWN_PAUSE, ctx.ws.settings.sync_every)
    left = (status.sent_at or 0.0) + pause - ctx.ws.clock.now()
    if 0 < left <= pause:
        ctx.ws.clock.wait(left)
    return sync(ctx, in_command=True)


def _pause(ws: Workspace, report: SyncReport) -> float | None:
    """Seconds until the rest can be pushed; None if nothing is left, or if that is not soon."""
    if report.again_at is None or not (report.unsent or report.trouble):
        return None
    left = report.again_at - ws.clock.now()
    return max(left, SPAWN_PAUSE) if left <= LONGEST_STAY else None


def _is_alone(ws: Workspace, held: ExitStack) -> bool:
    """Whether no other process of this clone stays; if one does, it looks again after this one."""
    try:
        held.enter_context(files.locked(ws.ghp_dir / LOCK, patience=TIMEOUT_S))
    except (GhpError, OSError):
        return False
    return True
