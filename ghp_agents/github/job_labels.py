"""Show the states of issues as labels on GitHub, where `agents.jobLabels` asks for it.

The labels are derived by the table of `agent-jobs`, and are never read as the state. A sync of the
clone where an issue's agent works, or of the one that showed it last, writes what differs; a sweep
does so for all issues. So nothing is queued, and two clones seldom write the same.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from ghp_agents.claims import choose_next
from ghp_agents.core.errors import GhpError, UnknownError
from ghp_agents.core.ids import one_line
from ghp_agents.core.json_file import JsonFile
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.github.wording import PROGRAM
from ghp_agents.issues.dependencies import EPIC, has_label
from ghp_agents.issues.issue import NO_CHANGE, Issue, IssueChange
from ghp_agents.jobs import listing
from ghp_agents.jobs.job_state import LABELS, JobState
from ghp_agents.ports import Context
from ghp_agents.presence.service import AgentView
from ghp_agents.workspace import Workspace

SHOWN = "hub/job-labels.json"  # in the folder of caches: the issues that this clone labelled
FEW = 30  # issues per sync: writes are a second apart, the rest waits for the next one
MANY = 200  # writes in an hour, after which no more labels are written
FAILURES = 3  # after so many, the rest is left to the next sync


def show(
    ctx: Context,
    hub: GitHubRepository,
    issues: Sequence[Issue],
    views: Sequence[AgentView],
    *,
    everywhere: bool = False,
    before_each: Callable[[], None] = lambda: None,
) -> list[str]:
    """Write the labels that differ, `everywhere` or where this clone keeps them; return notes on
    failures. Raises UnknownError, and what `before_each` raises before a change."""
    if not ctx.ws.settings.job_labels:
        return []
    memory = _memory(ctx.ws, hub)
    kept = memory.read()
    mine = _mine(ctx, views, kept)
    wanted = [
        issue
        for issue in issues
        if (everywhere or not mine.isdisjoint(issue.numbers)) and _is_shown(issue)
    ]
    most = min(FEW, max(0, MANY - hub.writes_in_last_hour) // 2)
    due = _due(ctx, wanted, views) if wanted else []
    notes = _write(ctx, due[:most], before_each)
    left = {number for issue, _ in due for number in issue.numbers}
    over = {n for issue in issues if issue.state == "closed" for n in issue.numbers} - left
    if mine - over != kept:
        memory.write({"repository": _name(hub), "issues": sorted(mine - over)})
    return notes


def change_of(issue: Issue, state: JobState) -> IssueChange:
    """What an issue's labels lack, and have too much, to show its state. An epic shows none."""
    wanted = "" if has_label(issue, EPIC) else state.label
    present = [label for label in issue.labels if label.lower() in LABELS]
    right = next((label for label in present if label.lower() == wanted), None)
    added = (wanted,) if wanted and right is None else ()
    removed = tuple(label for label in present if label != right)
    return IssueChange(add_labels=added, remove_labels=removed)


def _is_shown(issue: Issue) -> bool:
    """Whether agents may take it, or it has a label that may be wrong. What was closed before gets
    none."""
    has_one = not LABELS.isdisjoint(label.lower() for label in issue.labels)
    return has_one or (issue.offered and issue.state == "open")


def _mine(ctx: Context, views: Iterable[AgentView], kept: Collection[int]) -> set[int]:
    """The issues whose labels this clone keeps."""
    here = {view.name for view in views if view.is_here}
    held = {n: lock for n, lock in ctx.world.claims.items() if not lock.is_person}
    mine = {number for number, lock in held.items() if lock.holder in here}
    return mine | {*kept}.difference(held.keys() - mine)


def _due(
    ctx: Context, issues: Sequence[Issue], views: Sequence[AgentView]
) -> list[tuple[Issue, IssueChange]]:
    """The changes to write; issues that are worked on come first."""
    board = choose_next.read_board(ctx, ctx.world.claims, agents=views)
    states = listing.states(ctx, board, issues, listing.open_pulls(ctx))
    changes = [(issue, change_of(issue, states[issue.id])) for issue in issues]
    due = [(issue, change) for issue, change in changes if change != NO_CHANGE]
    return sorted(due, key=lambda pair: states[pair[0].id] is JobState.QUEUED)


def _write(
    ctx: Context, due: Iterable[tuple[Issue, IssueChange]], before_each: Callable[[], None]
) -> list[str]:
    notes: list[str] = []
    for issue, change in due:
        if len(notes) == FAILURES:
            break
        before_each()
        try:
            ctx.tracker.change(issue.number, change, PROGRAM)
        except UnknownError:
            raise
        except GhpError as error:
            words = one_line(str(error), 200)
            notes.append(f"Cannot show the state of #{issue.number} as a label: {words}")
    return notes


def _name(hub: GitHubRepository) -> str:
    return f"{hub.host}/{hub.repository}"


def _memory(ws: Workspace, hub: GitHubRepository) -> JsonFile[set[int]]:
    def decode(data: Mapping[str, Any]) -> set[int]:
        return {int(n) for n in data["issues"]} if data["repository"] == _name(hub) else set()

    return JsonFile(ws.cache_dir / SHOWN, decode, set)
