"""Open issues, read without those that are settled."""

from ghp_agents.issues import replay
from ghp_agents.issues.record import FOLDER
from ghp_agents.issues.replay import IssueEvents
from ghp_agents.ports import Snapshot


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
