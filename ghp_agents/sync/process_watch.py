"""Report the living processes of silent sessions, although no command runs.

No hook runs while a session thinks, waits for its person or runs one long command. Other clones
would count it as dead. So the background process stays while such a process runs, and sends what
`presence/process_reports.py` writes. When one has ended, it saves and sends what its agent left. It
starts no process but the sync's own.
"""

from contextlib import ExitStack

from ghp_agents.core import files
from ghp_agents.core.errors import GhpError
from ghp_agents.handoffs import left_work
from ghp_agents.hotpath.background import SPAWN_PAUSE
from ghp_agents.ports import Context
from ghp_agents.presence import client_process, process_reports
from ghp_agents.sync import push_now, wake

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.github.api.repository import GitHubRepository

LOCK = "process-watch.lock"  # only one process of a clone stays
LOOK_EVERY = 60.0  # seconds between two looks at the presence files


def watch(ctx: Context, hub: "GitHubRepository | None" = None) -> None:
    """Stay until no session of this clone runs, or all are silent for too long to count as alive,
    and no client that was started here runs.

    Ends at once if another process stays, or if there is no remote. Raises GhpError.
    """
    if ctx.store.remote() is None:
        return
    with ExitStack() as held:
        try:
            held.enter_context(files.locked(ctx.ws.ghp_dir / LOCK, patience=0.0))
        except (GhpError, OSError):
            return
        while (left := _next_in(ctx)) is not None:
            ctx.ws.clock.wait(min(max(left, SPAWN_PAUSE), LOOK_EVERY))
            if not ctx.ws.ghp_dir.is_dir():  # removed meanwhile
                return
            has_written = process_reports.report_processes(ctx.ws, asks_clients=True)
            if left_work.save(ctx) or has_written or wake.wakes_any(ctx):
                push_now.deliver(ctx, hub)
        if left_work.save(ctx):  # the last one may have ended before the loop
            push_now.deliver(ctx, hub)


def _next_in(ctx: Context) -> float | None:
    """Seconds until there may be something to do; None if nobody is at work here."""
    left = process_reports.next_in(ctx.ws)
    return LOOK_EVERY if left is None and client_process.runs_any(ctx.ws) else left
