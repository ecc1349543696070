"""Issues whose locks show that their work has ended, before this clone knows of it."""

from ghp_agents.claims import messages
from ghp_agents.claims.effects import ClaimContext
from ghp_agents.issues.issue import Issue
from ghp_agents.locks.lock import Lock
from ghp_agents.state.cause import CLOSED, MERGED

TIMEOUT_S = 5.0  # for the fetch


def refuse(me: ClaimContext, issue: Issue, lock: Lock | None) -> None:
    """Refuse an issue that is closed in another clone. An issue that was opened again has such a
    lock, too, so this clone fetches before it decides. Raises RefusedError."""
    if lock is None or lock.holder is not None or lock.cause.kind not in (CLOSED, MERGED):
        return
    me.ctx.store.hear(TIMEOUT_S)
    now = me.ctx.tracker.get(str(issue.number))
    if now.state == "closed":
        raise messages.closed(now)
