"""What was sent back and was not mended yet: for who has the issue, and for who goes on with it."""

from collections.abc import Callable

from ghp_agents.core.ids import AgentName
from ghp_agents.git import merge as landing
from ghp_agents.git import worktree
from ghp_agents.handoffs import returned as rules
from ghp_agents.handoffs.evidence import Topic
from ghp_agents.handoffs.markdown import path
from ghp_agents.handoffs.returned import FOLDER, Return
from ghp_agents.hotpath.quoting import phrase
from ghp_agents.locks.names import PREFIX, claim_name
from ghp_agents.ports import LockService, Snapshot
from ghp_agents.state import remote_branches as branches
from ghp_agents.workspace import Workspace

SHOWN = 5  # files in conflict


def reminders(
    ws: Workspace, snapshot: Snapshot, leaser: LockService, agent: AgentName
) -> list[str]:
    """What came back to `agent`, as long as it is so: a line for each pull request."""
    if not snapshot.files(FOLDER):
        return []
    holders = {lease.name: lease.holder for lease in leaser.known(PREFIX)}

    def is_its_own(said: Return) -> bool:
        return agent == (said.agent if said.issue is None else holders.get(claim_name(said.issue)))

    found = _unmended(ws, snapshot, is_its_own)
    return [rules.reminder(each, number, _why(each)) for each, number in found]


def steps(ws: Workspace, snapshot: Snapshot, about: Topic) -> list[str]:
    """What there is to mend before all else about an issue."""
    if about.number is None or (about.issue and about.issue.state == "closed"):
        return []
    found = _unmended(ws, snapshot, lambda said: said.issue in about.numbers)
    return [rules.step(each, number, _why(each)) for each, number in found]


def _unmended(
    ws: Workspace, snapshot: Snapshot, is_wanted: Callable[[Return], bool]
) -> list[tuple[Return, int]]:
    """The last return of each pull request, with its round, if nothing came after it."""
    found, _ = rules.read_returns(snapshot.files(FOLDER))
    return [
        (said, number)
        for said, number in rules.last(found)
        if is_wanted(said) and not _is_mended(ws, said)
    ]


def _is_mended(ws: Workspace, said: Return) -> bool:
    """Whether the branch has moved on, as far as this clone knows. A tip that is older than what
    was looked at was not mended: the host brought the branch up to the trunk meanwhile."""
    tip = branches.known_tip(ws, said.branch)
    if not tip:
        return said.issue is None  # it is over; who has an issue has not come to its end
    if tip == said.head or not worktree.has_commit(ws.folder, said.head):
        return False
    return not landing.is_ancestor(ws.folder, tip, said.head)


def _why(said: Return) -> str:
    """The files in conflict, or the check that failed."""
    lines = [line for line in said.text.splitlines() if line.strip()]
    if said.reason != "conflict":
        return phrase(lines[0], 200) if lines else rules.REASONS[said.reason]
    more = f" and {len(lines) - SHOWN} more" if len(lines) > SHOWN else ""
    return f"conflict with the trunk in {', '.join(map(path, lines[:SHOWN]))}{more}"
