"""Returned pull requests that still need work, for the issue's holder and for who resumes it."""

from collections.abc import Callable

from ghp_agents.core.file_names import as_code
from ghp_agents.core.ids import AgentName, listed, one_line
from ghp_agents.git import worktree
from ghp_agents.handoffs import returned as rules
from ghp_agents.handoffs.evidence import EvidenceTopic
from ghp_agents.handoffs.returned import FOLDER, Return
from ghp_agents.hotpath.quoting import phrase
from ghp_agents.ports import Context, Snapshot
from ghp_agents.state import remote_branches as branches
from ghp_agents.workspace import Workspace

SHOWN = 5  # files in conflict

_Shorten = Callable[[str, int], str]


def reminders(ctx: Context, snapshot: Snapshot, agent: AgentName) -> list[str]:
    """Return a line for each pull request that came back to `agent` and still needs work."""
    if not snapshot.files(FOLDER):
        return []
    claims = ctx.world.claims

    def is_its_own(entry: Return) -> bool:
        if entry.issue is None:
            return entry.agent == agent
        return entry.issue in claims and claims[entry.issue].holder == agent

    returns = unresolved(ctx.ws, snapshot, is_its_own)
    return [rules.reminder(entry, number, why(entry)) for entry, number in returns]


def steps(ws: Workspace, snapshot: Snapshot, about: EvidenceTopic) -> list[str]:
    """Return the fixes that an issue needs before anything else."""
    if about.number is None or (about.issue and about.issue.state == "closed"):
        return []
    returns = unresolved(ws, snapshot, lambda entry: entry.issue in about.numbers)
    return [rules.step(entry, number, why(entry)) for entry, number in returns]


def unresolved(
    ws: Workspace, snapshot: Snapshot, is_wanted: Callable[[Return], bool]
) -> list[tuple[Return, int]]:
    """Return the last return of each pull request and its round, unless the branch has moved on."""
    returns, _ = rules.read_returns(snapshot.files(FOLDER))
    return [
        (entry, number)
        for entry, number in rules.last(returns)
        if is_wanted(entry) and not _is_resolved(ws, entry)
    ]


def _is_resolved(ws: Workspace, entry: Return) -> bool:
    """Return whether the branch has moved on, as far as this clone knows. An older tip does not
    count: then the host had updated the branch to the default branch before the check."""
    tip = branches.known_tip(ws, entry.branch)
    if not tip:
        return entry.issue is None  # without an issue it is over; an issue is not over yet
    if tip == entry.head or not worktree.has_commit(ws.folder, entry.head):
        return False
    return not worktree.contains(ws.folder, entry.head, tip)


def unquoted(entry: Return) -> str:
    """Return the files in conflict, or the check that failed, in one line of others' text."""
    return _cause(entry, one_line, one_line)


def why(entry: Return) -> str:
    """Return the same for a sentence of ours, quoted."""
    return _cause(entry, phrase, lambda path, _: as_code(path))


def _cause(entry: Return, line: _Shorten, path: _Shorten) -> str:
    lines = [text for text in entry.text.splitlines() if text.strip()]
    if entry.reason == "conflict":
        return f"conflict with main in {listed([path(text, 200) for text in lines], SHOWN)}"
    return line(lines[0], 200) if lines else rules.REASONS[entry.reason]
