"""The local issues of a snapshot: all, or the open ones without what is settled."""

from collections.abc import Sequence

from ghp_agents.core.moment import derived
from ghp_agents.issues import replay
from ghp_agents.issues.issue import Issue
from ghp_agents.issues.record import FOLDER
from ghp_agents.issues.replay import IssueEvents
from ghp_agents.ports import Snapshot


@derived
def read_events(snapshot: Snapshot) -> IssueEvents:
    """All records of issues."""
    return replay.read_events(snapshot.files(FOLDER))


@derived
def read_all(snapshot: Snapshot) -> Sequence[Issue]:
    """All issues, oldest first."""
    return replay.fold(read_events(snapshot))


@derived
def read_open(snapshot: Snapshot) -> IssueEvents:
    """The records of all open issues, and of some others. Reads of settled issues only those that
    open ones refer to."""
    files, looked = dict(snapshot.present(FOLDER)), set[str]()
    log = replay.read_events(files)
    while lacking := replay.incomplete(log) - looked:
        looked |= lacking
        more = snapshot.settled([f"{FOLDER}{issue}/" for issue in sorted(lacking)])
        if not more:
            break
        files = {**more, **files}
        log = replay.read_events(files)
    return log


@derived
def list_open(snapshot: Snapshot) -> Sequence[Issue]:
    """The open issues, oldest first."""
    return [issue for issue in replay.fold(read_open(snapshot)) if issue.state != "closed"]
