"""What one agent did: the changes of its branch, its handoffs, and its part of the ledger."""

from collections.abc import Iterable
from pathlib import Path

from ghp_agents.cli.views.ledger import event
from ghp_agents.cli.watch.look import Detail
from ghp_agents.core.clock import brief, to_seconds
from ghp_agents.core.ids import count
from ghp_agents.git import worktree, worktree_admin
from ghp_agents.git.branch_range import History, between
from ghp_agents.handoffs import record as handoff_record
from ghp_agents.hotpath.locate import branch, locate
from ghp_agents.hotpath.quoting import file, phrase
from ghp_agents.reports.overview import AgentRow
from ghp_agents.state.default_branch import trunk_places
from ghp_agents.state.ledger import LedgerQuery, select
from ghp_agents.wiring import App

LOG_SHOWN = 100  # entries, the newest first
FILES_SHOWN = 30
HANDOFFS_SHOWN = 5
TEXT_SHOWN = 400  # characters


def read_detail(app: App, row: AgentRow) -> Detail:
    """What an agent did. Raises GhpError, OSError."""
    now = app.ws.clock.now()
    return Detail(
        tuple(_changes(app, row)), tuple(_handoffs(app, row, now)), tuple(_log(app, row, now))
    )


def worktree_of(app: App, row: AgentRow) -> Path | None:
    """An agent's worktree in this clone: the one with its branch, else the one with its name."""
    if not row.is_here or app.ws.place.toplevel is None:
        return None
    checkouts = worktree_admin.listed(app.ws.folder)
    by_branch = [
        checkout.path for checkout in checkouts if row.branch and checkout.branch == row.branch
    ]
    by_name = [checkout.path for checkout in checkouts if checkout.path.name == row.worktree]
    return next((path for path in (*by_branch, *by_name) if path.is_dir()), None)


def _changes(app: App, row: AgentRow) -> Iterable[str]:
    """The committed and uncommitted changes in its worktree on this machine."""
    path = worktree_of(app, row)
    place = locate(str(path), app.environ) if path else None
    if path is None or place is None or place.toplevel is None:
        yield "Its worktree is not in this clone."
        return
    head = worktree.head(path)
    own = f"refs/heads/{branch(place.git_dir)}"
    main = [ref for ref in trunk_places(app.ws) if ref != own]
    history = between(Path(place.toplevel), main, head).history if head and main else History()
    open_changes = worktree.differences(path)
    added = sum(changed.added or 0 for changed in history.files)
    removed = sum(changed.removed or 0 for changed in history.files)
    size = f", {count(len(history.files), 'file')}, +{added} -{removed}" if history.files else ""
    yield f"{count(history.total, 'commit')}{size}"
    for commit in history.commits[:5]:
        yield f"  {commit.oid[:9]}  {phrase(commit.subject)}"
    for lines in history.files[:FILES_SHOWN]:
        counts = "binary" if lines.added is None else f"+{lines.added} -{lines.removed}"
        yield f"  {counts:>12}  {file(lines.path)}"
    if open_changes:
        yield f"{len(open_changes)} not committed:"
    for change in open_changes[:FILES_SHOWN]:
        yield f"  {change.code}  {file(change.path)}"


def _handoffs(app: App, row: AgentRow, now: float) -> Iterable[str]:
    snapshot = app.store.snapshot()
    files = snapshot.files(handoff_record.folder_of(row.issue))
    handoffs, _ = handoff_record.read_handoffs(files)
    mine = [
        handoff for handoff in handoffs if row.issue or row.name in (handoff.by.name, handoff.to)
    ]
    for handoff in reversed(mine[-HANDOFFS_SHOWN:]):
        to = f" to {handoff.to}" if handoff.to else ""
        note = f"  {phrase(handoff.note, TEXT_SHOWN)}" if handoff.note else ""
        first = f"{_age(handoff.at, now):>4}  {handoff.name}  {handoff.kind}"
        yield f"{first} by {handoff.by.name}{to}{note}"


def _log(app: App, row: AgentRow, now: float) -> Iterable[str]:
    entries = select(app.store.ledger(), LedgerQuery(agent=row.name))
    for entry in reversed(entries[-LOG_SHOWN:]):
        yield f"{_age(entry.at, now):>4}  {event(entry, TEXT_SHOWN)}"


def _age(at: str, now: float) -> str:
    try:
        return brief(now - to_seconds(at))
    except ValueError:
        return "?"
