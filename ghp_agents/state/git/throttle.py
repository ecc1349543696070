"""When to sync in the background: as often as hosts advise, and sooner for what others must know.

GitHub recommends at most six pushes a minute to a repository, from all clients together.
"""

from collections.abc import Sequence

from ghp_agents.core.clock import to_seconds
from ghp_agents.state.coordination import coordination_remote
from ghp_agents.state.git import fold, read
from ghp_agents.state.git.sync_status import read_note
from ghp_agents.state.join import SyncReport
from ghp_agents.state.ledger import PRESENCE_SUBJECT
from ghp_agents.state.private_repo import StateRepository, find_repository
from ghp_agents.workspace import Workspace

AT_ONCE = ("escalate", "answer", "handoff", "issue-new")  # events that someone waits for
ONCE_PAUSE = 2.0  # seconds between two pushes of AT_ONCE events
SEND_PAUSE = 10.0  # seconds between two pushes of records, as leases and claims
CLONE_PAUSE = 10.0  # seconds for each living clone between two pushes of presence
REFUSED_PAUSE = 3_600.0  # seconds; a refused push is retried, but rarely
LIVING = 7_200.0  # seconds since a clone's last commit; its clock may be an hour off


def next_exchange(ws: Workspace) -> float:
    """The earliest time, in seconds, at which a background process should contact the remote."""
    repository = find_repository(ws)
    note = read_note(ws, coordination_remote(ws))
    last = max(note.fetched_at or 0.0, note.pushed_at or 0.0, note.tried_at or 0.0)
    if repository is None or not 0 < last <= ws.clock.now():
        return 0.0  # never, or in the future: our clock was set back
    unsent = [] if is_refused(ws) else _unsent(repository)
    if unsent and not note.trouble:  # asking for news delays no push
        last = note.pushed_at or 0.0
    return last + (pause(unsent) or presence_pause(ws, repository))


def pause(subjects: Sequence[str]) -> float:
    """Seconds between two pushes if commits of these subjects wait; 0 if all are presence."""
    if any(subject.startswith(AT_ONCE) for subject in subjects):
        return ONCE_PAUSE
    has_records = any(not subject.startswith(PRESENCE_SUBJECT) for subject in subjects)
    return SEND_PAUSE if has_records else 0.0


def is_refused(ws: Workspace) -> bool:
    """Whether the remote refused our push recently. Fetching continues at its own pace."""
    note = read_note(ws, coordination_remote(ws))
    return note.permanent and 0 <= ws.clock.now() - (note.refused_at or 0.0) < REFUSED_PAUSE


def presence_pause(ws: Workspace, repository: StateRepository) -> float:
    """Seconds between two pushes of presence. The clone's id spreads the syncs, so clones need not
    coordinate."""
    jitter = 1 + int(repository.clone[:4], 16) / 65_536 / 4
    clones = max(1, _living(ws, repository))
    return max(ws.settings.sync_every, CLONE_PAUSE * clones) * jitter


def _living(ws: Workspace, repository: StateRepository) -> int:
    """The number of clones that commit."""
    now = ws.clock.now()
    return sum(1 for tip in read.tips(repository) if abs(now - to_seconds(tip.at)) < LIVING)


def schedule(ws: Workspace, report: SyncReport) -> None:
    """Set when the background is needed next, after an exchange: to commit heartbeats, or to ask
    for the news of other clones that live."""
    repository, pause = find_repository(ws), ws.settings.fold_every
    if report.remote and repository and _living(ws, repository) > 1:
        pause = min(pause, presence_pause(ws, repository))
    soon = next_exchange(ws) if report.unsent else 0.0
    fold.set_due(ws, max(ws.clock.now() + pause, soon))


def _unsent(repository: StateRepository) -> list[str]:
    """The subjects of this clone's unsent commits."""
    span = repository.unsent_span()
    return repository.run("log", "-200", "--format=%s", *span).text.splitlines() if span else []
