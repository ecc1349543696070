"""Report the living processes of silent sessions, although no command runs.

No hook runs while a session thinks, waits for its person or runs one long command. Other clones
would count it as dead. So the background process stays while such a process runs, and sends what
`presence/process_reports.py` writes. It starts no process but the sync's own.
"""

from contextlib import ExitStack

from ghp_agents.core import files
from ghp_agents.core.errors import GhpError
from ghp_agents.hotpath.background import SPAWN_PAUSE
from ghp_agents.ports import Context
from ghp_agents.presence import process_reports
from ghp_agents.sync import push_now, wake

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.github.api.repository import GitHubRepository

LOCK = "process-watch.lock"  # only one process of a clone stays
LOOK_EVERY = 60.0  # seconds between two looks at the presence files


def watch(ctx: Context, hub: "GitHubRepository | None" = None) -> None:
    """Stay until no session of this clone runs, or all are silent for too long to count as alive.

    Ends at once if another process stays, or if there is no remote. Raises GhpError.
    """
    if ctx.exchange.sync_status().remote is None or process_reports.next_in(ctx.ws) is None:
        return
    with ExitStack() as held:
        try:
            held.enter_context(files.locked(ctx.ws.ghp_dir / LOCK, patience=0.0))
        except (GhpError, OSError):
            return
        while (left := process_reports.next_in(ctx.ws)) is not None:
            ctx.ws.clock.wait(min(max(left, SPAWN_PAUSE), LOOK_EVERY))
            if not ctx.ws.ghp_dir.is_dir():  # removed meanwhile
                return
            has_written = process_reports.report_processes(ctx.ws, asks_clients=True)
            if has_written or wake.wakes_any(ctx):
                push_now.deliver(ctx, hub)
