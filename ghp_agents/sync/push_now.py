"""Push local records soon, whatever becomes of the commands that wrote them.

Hosts limit the rate of calls, so a record written just after a sync must wait. A background
process stays until every record is sent. Otherwise the last record would wait for the next command,
which may never come. If the remote cannot be reached, the process tries again, ever less often.
"""

from collections.abc import Callable
from contextlib import ExitStack, suppress

from ghp_agents.core import files
from ghp_agents.core.errors import GhpError
from ghp_agents.hotpath import background, error_log
from ghp_agents.hotpath.background import SPAWN_PAUSE
from ghp_agents.ports import Context
from ghp_agents.state.join import SyncReport
from ghp_agents.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.github.api.repository import GitHubRepository

LOCK = "deliver.lock"  # only one process of a clone stays
LONGEST_STAY = 60.0  # seconds; presence that must wait longer goes with a later heartbeat
LONGEST_PAUSE = 300.0  # seconds between two tries to send a record
LONGEST_TRY = 86_400.0  # seconds; then the next command or heartbeat starts another process
LOOK_EVERY = 1.0  # seconds; until the staying process sees that there is a new record
TIMEOUT_S = 1.0  # seconds; the staying process takes less from its last look to its end


def deliver(
    ctx: Context,
    hub: "GitHubRepository | None" = None,
    again: "Callable[[], tuple[Context, GitHubRepository | None]] | None" = None,
) -> None:
    """Sync, no more often than hosts advise, until all records are sent; leave that to another
    process of this clone that does it.

    `again` reads the settings again after a failure: somebody may have changed the remote. Raises
    GhpError, OSError when nothing is left to be sent.
    """
    with ExitStack() as held:
        if not _is_alone(ctx.ws, held):
            return  # it sees within LOOK_EVERY that there is something new
        failures, good = 0, ctx.ws.clock.interval()[1]  # when nothing had failed
        while True:
            looks, rung = ctx.ws.clock.now(), background.rung_at(ctx.ws.folders)
            report = _sync(ctx, hub, is_first=not failures)
            if report.trouble and report.again_at is None:
                failures += 1
                if ctx.ws.clock.interval()[1] - good > LONGEST_TRY:
                    return
            elif report.fetched:
                failures, good = 0, ctx.ws.clock.interval()[1]
            pause = _pause(ctx, report, failures)
            is_last = report.remote is None or not _is_relied_on(ctx.ws, looks)
            if pause is None and is_last and background.rung_at(ctx.ws.folders) == rung:
                return
            if not _wait(ctx.ws, SPAWN_PAUSE if pause is None else pause, rung):
                failures = 0  # a command works, so perhaps the remote does, too
            if not ctx.ws.ghp_dir.is_dir():  # removed meanwhile; a sync would create it again
                return
            if failures and again:
                with suppress(GhpError):  # else with the last settings that could be read
                    ctx, hub = again()


def _sync(ctx: Context, hub: "GitHubRepository | None", *, is_first: bool) -> SyncReport:
    """A sync; with records left to send, an error of this clone is a failed try, too."""
    from ghp_agents.sync.service import sync

    try:
        return sync(ctx, paced=True, hub=hub)
    except (GhpError, OSError) as error:
        status = ctx.store.sync_status()
        if not (status.remote and (status.records or status.waiting)):
            raise
        if is_first:
            error_log.log_error(error, str(ctx.ws.folder), ctx.ws.environ)
        return SyncReport(status.remote, unsent=status.unsent, trouble=str(error))


def _is_relied_on(ws: Workspace, looks: float) -> bool:
    """Whether a record written since this process looked may have started no process, because one
    had just been started: this one, or one that left the rest to it."""
    started = background.started_at(ws.folders)
    return looks < started + SPAWN_PAUSE and started <= ws.clock.now()


def _wait(ws: Workspace, seconds: float, rung: int) -> bool:
    """Wait, but not after a new record: it may be one that goes sooner. Returns whether there was
    none."""
    while (is_quiet := background.rung_at(ws.folders) == rung) and seconds > 0:
        ws.clock.wait(min(seconds, LOOK_EVERY))
        seconds -= LOOK_EVERY
    return is_quiet


def send(ctx: Context) -> SyncReport:
    """Sync now, for a waiting command; at least `SPAWN_PAUSE` after the last push, or
    `agents.syncEvery` if that is less. Hosts allow more fetches than pushes.

    The report says if the remote is unreachable. Raises GhpError for local errors.
    """
    status = ctx.store.sync_status()
    if status.remote is None:
        return SyncReport(remote=None)
    from ghp_agents.sync.service import sync

    pause = min(SPAWN_PAUSE, ctx.ws.settings.sync_every)
    left = (status.sent_at or 0.0) + pause - ctx.ws.clock.now()
    if 0 < left <= pause:
        ctx.ws.clock.wait(left)
    return sync(ctx, in_command=True)


def _pause(ctx: Context, report: SyncReport, failures: int) -> float | None:
    """Seconds until the rest can be pushed; None if nothing is left, if that is not soon, or if the
    remote refuses it for good."""
    status = ctx.store.sync_status()
    has_records = bool(status.records or status.waiting) and not status.permanent
    if report.again_at is None or not (report.unsent or report.trouble):
        is_failure = bool(report.trouble) and has_records
        return min(SPAWN_PAUSE * 2**failures, LONGEST_PAUSE) if is_failure else None
    left = max(report.again_at - ctx.ws.clock.now(), SPAWN_PAUSE * 2**failures)
    return min(left, LONGEST_PAUSE) if left <= LONGEST_STAY or has_records else None


def _is_alone(ws: Workspace, held: ExitStack) -> bool:
    """Whether no other process of this clone stays; if one does, it looks again after this one.
    Where nothing can be locked, each stays."""
    try:
        held.enter_context(files.locked_if_possible(ws.ghp_dir / LOCK, patience=TIMEOUT_S))
    except files.LockTimeoutError:
        return False
    return True
