"""Delivery: what was said here reaches the others, though nobody here says anything more.

Hosts want to be called seldom, so what is said just after a sync has to wait for its turn. A
background process stays for it: else the last word before a silence would wait for whoever speaks
next.
"""

from contextlib import ExitStack

from ghp_agents.core import files
from ghp_agents.core.errors import GhpError
from ghp_agents.hotpath.background import SPAWN_PAUSE
from ghp_agents.ports import IssueTracker, LockService, StateStore
from ghp_agents.state.join import SyncReport
from ghp_agents.sync.service import sync
from ghp_agents.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.github.api.repository import GitHubRepository

LOCK = "deliver.lock"  # one process of a clone stays; the others leave it to that one
LONGEST_STAY = 60.0  # seconds; what may only go later than that goes with a later beat
PATIENCE = 1.0  # seconds; between its last look and its end, whoever stays takes less


def deliver(
    ws: Workspace,
    store: StateStore,
    leaser: LockService,
    tracker: IssueTracker,
    hub: "GitHubRepository | None" = None,
) -> None:
    """Sync, no more often than hosts advise, until nothing is left that could soon be sent."""
    stays = has_looked_again = False
    with ExitStack() as held:
        while True:
            report = sync(ws, store, leaser, tracker, paced=True, hub=hub)
            pause = _pause(ws, report)
            if pause is not None:
                # Who stays may sleep for long; what may go sooner than that is not left to it.
                if not stays and not _is_alone(ws, held):
                    if pause > SPAWN_PAUSE:
                        return
                else:
                    stays = True
                has_looked_again = False
            elif has_looked_again or report.trouble or report.remote is None:
                return
            else:  # who spoke since this process was started has started none
                pause, has_looked_again = SPAWN_PAUSE, True
            ws.clock.wait(pause)
            if not ws.ghp_dir.is_dir():  # taken away meanwhile; a sync would make it again
                return


def send(
    ws: Workspace, store: StateStore, leaser: LockService, tracker: IssueTracker
) -> SyncReport:
    """One exchange now, for what somebody waits for; at least `SPAWN_PAUSE` after the one before.

    A remote that cannot be reached is in the report. Raises GhpError for what is wrong here.
    """
    standing = store.standing()
    if standing.remote is None:
        return SyncReport(remote=None)
    last = max(standing.news_at or 0.0, standing.sent_at or 0.0)
    left = last + SPAWN_PAUSE - ws.clock.now()
    if 0 < left <= SPAWN_PAUSE:
        ws.clock.wait(left)
    return sync(ws, store, leaser, tracker)


def _pause(ws: Workspace, report: SyncReport) -> float | None:
    """Seconds until what is left can be sent; None if nothing is, or that is not soon."""
    if report.again_at is None or not (report.unsent or report.trouble):
        return None
    left = report.again_at - ws.clock.now()
    return max(left, SPAWN_PAUSE) if left <= LONGEST_STAY else None


def _is_alone(ws: Workspace, held: ExitStack) -> bool:
    """Whether no other process of this clone stays; one that does looks again after us."""
    try:
        held.enter_context(files.locked(ws.ghp_dir / LOCK, patience=PATIENCE))
    except (GhpError, OSError):
        return False
    return True
