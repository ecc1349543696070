"""The local issues of a snapshot: all, or the open ones without what is settled."""

from collections.abc import Sequence

from ghp_agents.core.moment import derived
from ghp_agents.issues import replay
from ghp_agents.issues.issue import Issue
from ghp_agents.issues.record import FOLDER
from ghp_agents.issues.replay import IssueEvents
from ghp_agents.ports import Snapshot


@derived
def _read_present(snapshot: Snapshot) -> IssueEvents:
    """The records that are not settled: in most repositories, all of them."""
    return replay.read_events(snapshot.present(FOLDER))


@derived
def _fold_present(snapshot: Snapshot) -> Sequence[Issue]:
    return replay.fold(_read_present(snapshot))


def _fold(snapshot: Snapshot, log: IssueEvents) -> Sequence[Issue]:
    return _fold_present(snapshot) if log is _read_present(snapshot) else replay.fold(log)


@derived
def read_events(snapshot: Snapshot) -> IssueEvents:
    """All records of issues."""
    if not snapshot.settled([FOLDER]):
        return _read_present(snapshot)
    return replay.read_events(snapshot.files(FOLDER))


@derived
def read_all(snapshot: Snapshot) -> Sequence[Issue]:
    """All issues, oldest first."""
    return _fold(snapshot, read_events(snapshot))


@derived
def read_open(snapshot: Snapshot) -> IssueEvents:
    """The records of all open issues, and of some others. Reads of settled issues only those that
    open ones refer to."""
    files, looked = dict(snapshot.present(FOLDER)), set[str]()
    log = _read_present(snapshot)
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
    issues = _fold(snapshot, read_open(snapshot))
    return [issue for issue in issues if issue.state != "closed"]
