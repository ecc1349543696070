"""When to exchange with the remote by ourselves: as often as hosts advise, at once for what waits.

GitHub recommends at most six pushes a minute to a repository, from all who push.
"""

from ghp_agents.clock import to_seconds
from ghp_agents.model.state import SyncReport
from ghp_agents.remote import coordination_remote
from ghp_agents.repository import SEEN_REFS, StateRepository, find_repository
from ghp_agents.store.refs import folding, reading
from ghp_agents.store.refs.standing import read_note
from ghp_agents.workspace import Workspace

URGENT = ("escalate", "answer", "handoff", "issue-")  # events that others wait for
SEND_PAUSE = 10.0  # seconds between two pushes of what is urgent
CLONE_PAUSE = 10.0  # seconds for each living clone between two pushes of presence
REFUSED_PAUSE = 3_600.0  # a push that was refused is tried again, but seldom
LIVING = 7_200.0  # seconds since a clone's last commit; its clock may be an hour off


def next_exchange(ws: Workspace) -> float:
    """The time, in seconds, before which no background process should call the remote."""
    repository = find_repository(ws)
    note = read_note(ws, coordination_remote(ws))
    last = max(note.fetched_at or 0.0, note.pushed_at or 0.0, note.tried_at or 0.0)
    if repository is None or not 0 < last <= ws.clock.now():
        return 0.0  # never, or at a time that is still to come: our clock was set back
    urgent = _urgent(repository) and not is_refused(ws)
    return last + (SEND_PAUSE if urgent else presence_pause(ws, repository))


def is_refused(ws: Workspace) -> bool:
    """Whether the remote refused our push not long ago. Fetching goes on at its own pace."""
    note = read_note(ws, coordination_remote(ws))
    return note.permanent and 0 <= ws.clock.now() - (note.refused_at or 0.0) < REFUSED_PAUSE


def presence_pause(ws: Workspace, repository: StateRepository) -> float:
    """Seconds between two pushes of presence. A clone's own id spreads the clones' syncs, so that
    nobody needs to know when the others come."""
    now = ws.clock.now()
    ages = [abs(now - to_seconds(tip.at)) for tip in reading.tips(repository)]
    clones = max(1, sum(1 for age in ages if age < LIVING))
    jitter = 1 + int(repository.clone[:4], 16) / 65_536 / 4
    return max(ws.settings.sync_every, CLONE_PAUSE * clones) * jitter


def schedule(ws: Workspace, report: SyncReport) -> None:
    """Note when the background is needed next, after an exchange."""
    soon = next_exchange(ws) if report.unsent else 0.0
    folding.set_due(ws, max(ws.clock.now() + ws.settings.fold_every, soon))


def _urgent(repository: StateRepository) -> bool:
    head = repository.run("rev-parse", "--verify", "--quiet", repository.ref).text
    if not head:
        return False
    sent = repository.run("rev-parse", "--verify", "--quiet", SEEN_REFS + repository.clone).text
    span = [head, f"^{sent}"] if sent else [head]
    subjects = repository.run("log", "-200", "--format=%s", *span).text.splitlines()
    return any(subject.startswith(URGENT) for subject in subjects)
