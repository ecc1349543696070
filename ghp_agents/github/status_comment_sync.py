"""Keeps the status comment of each issue up to date: created once and then edited.

The clone of the claim's holder keeps it, or the clone that did so last; after a comment command or
a sweep, the clone that ran it. The text follows from the state, so nothing is queued: a sync
compares and writes the differences. Only which issues a command or a sweep changed is noted until
their comments are written. If two clones created one at once, the younger one is deleted by its
own clone.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ghp_agents.core.ids import digest
from ghp_agents.core.json_file import JsonFile
from ghp_agents.github import account, edited_comment, pending_comments, status_comment
from ghp_agents.github import marker as github_marker
from ghp_agents.github.api.errors import ForbiddenError, GoneError, MissingError
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.github.status_comment import MARKER, IssueStatus
from ghp_agents.github.wording import PROGRAM
from ghp_agents.handoffs import latest
from ghp_agents.hotpath.heartbeat import is_name
from ghp_agents.issues import comment_commands
from ghp_agents.issues.issue import PROVISIONAL, Issue
from ghp_agents.leases import settled_questions
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence.service import AgentView
from ghp_agents.state.presence import issue_of, number
from ghp_agents.workspace import Workspace
from ghp_agents.world import World

KEPT = "hub/state-comments.json"  # in the folder of caches
OFTEN = 600.0  # seconds between two edits that change only the progress
MANY = 200  # writes in an hour, after which no more of those edits are sent
MOST = 1_000  # remembered comments
FEW = 30  # comments per sync: writes are a second apart, the rest wait for the next sync


class WrittenStatus(NamedTuple):
    """What this clone last wrote on an issue."""

    comment: int
    text: str  # digests; empty if GitHub refused it
    essence: str
    at: float


def refresh(
    ctx: Context,
    hub: GitHubRepository,
    snapshot: Snapshot,
    issues: Iterable[Issue],
    views: Sequence[AgentView],
    also: Collection[int] = (),
) -> None:
    """Write changed comments on this clone's issues, on those in `also`, and on those
    that are pending since an earlier run. Raises GhpError; what was not written stays pending."""
    pending_comments.add(ctx.ws, also)
    also = {*also, *pending_comments.pending(ctx.ws)}
    written_comments = _known(ctx.ws, hub).read()
    by_number: dict[int, Issue] = {n: issue for issue in issues for n in issue.numbers}
    state = _StateView(ctx, snapshot, views)
    for issue_number in sorted(written_comments.keys() - also):
        if state.is_elsewhere(issue_number):
            del written_comments[issue_number]
    wanted = {*written_comments, *state.ours, *also} & by_number.keys()
    written = 0
    try:
        for issue_number in sorted(wanted):
            issue = by_number[issue_number]
            if issue.number >= PROVISIONAL or (written >= FEW and issue_number not in also):
                continue
            written += _update_comment(
                ctx.ws, hub, written_comments, state.facts(issue), force=issue_number in also
            )
            if issue_number in also:
                pending_comments.remove(ctx.ws, issue_number)
    finally:
        _store(ctx.ws, hub, written_comments)


class _StateView:
    """The part of the state that the comments show."""

    def __init__(self, ctx: Context, snapshot: Snapshot, views: Sequence[AgentView]) -> None:
        world = World(ctx, snapshot)
        self._held = world.claims
        self._views = {view.name: view for view in views}
        self._snapshot = snapshot
        self._questions = settled_questions.read(world)
        self._commands = comment_commands.commands_in(snapshot)
        self._stopped = comment_commands.stopped(self._commands)

    @property
    def ours(self) -> set[int]:
        """The issues that agents of this clone hold."""
        return {n for n in self._held if self._is_here(n)}

    def is_elsewhere(self, issue_number: int) -> bool:
        """Whether an agent of another clone holds it; that clone keeps the comment."""
        view = self._view(issue_number)
        return view is not None and not view.is_here

    def facts(self, issue: Issue) -> IssueStatus:
        """All that the comment shows of an issue."""
        lock = next((self._held[n] for n in issue.numbers if n in self._held), None)
        view = self._view(issue.number)
        fields = view.presence if view and issue_of(view.presence) in issue.numbers else {}
        on_it = [
            question for question in self._questions if question.question.issue in issue.numbers
        ]
        commands = [command for command in self._commands if command.issue in issue.numbers]
        return IssueStatus(
            number=issue.number,
            closed=issue.state == "closed",
            lock=lock,
            assigned=tuple(name for name in issue.assignees if is_name(name)),
            status=str(fields.get("status") or ""),
            branch=str(fields.get("branch") or ""),
            pull=number(fields, "pull") or None,
            handoff=latest.of_issue(self._snapshot, [issue.number]),
            questions=tuple(question for question in on_it if question.is_open),
            command=commands[-1] if commands else None,
            stopped=issue.number in self._stopped,
        )

    def _view(self, issue_number: int) -> AgentView | None:
        lock = self._held.get(issue_number)
        return self._views.get(lock.holder or "") if lock and not lock.is_person else None

    def _is_here(self, issue_number: int) -> bool:
        view = self._view(issue_number)
        return view is not None and view.is_here


def _update_comment(
    ws: Workspace,
    hub: GitHubRepository,
    written: dict[int, WrittenStatus],
    facts: IssueStatus,
    *,
    force: bool,
) -> bool:
    """Update one comment; return whether a request was sent."""
    now, previous = ws.clock.now(), written.get(facts.number)
    text = status_comment.render(facts)
    text_digest, essence_digest = digest(text), digest(status_comment.essence(facts))
    if previous and previous.text == text_digest and not force:
        return False
    is_soon = previous is not None and 0 <= now - previous.at < OFTEN
    was_refused = previous is not None and not previous.text
    is_same = previous is not None and previous.essence == essence_digest
    is_progress = (is_same or was_refused) and not force
    if is_progress and (is_soon or hub.writes_in_last_hour >= MANY):
        return False
    identity = digest("state", hub.repository, str(facts.number))
    body = github_marker.signed(
        text,
        github_marker.mark(identity, PROGRAM, MARKER, account.person(hub, ws.settings.accounts)),
    )
    comment = previous.comment if previous else 0
    try:
        comment = (
            edited_comment.edit(hub, comment, body) if comment else 0
        ) or edited_comment.post_or_edit(hub, facts.number, body, MARKER)
    except (ForbiddenError, MissingError):  # perhaps for a moment: tried again
        text_digest = essence_digest = ""
    except GoneError:
        pass  # tried again when the text changes
    written[facts.number] = WrittenStatus(comment, text_digest, essence_digest, now)
    return True


def _known(ws: Workspace, hub: GitHubRepository) -> JsonFile[dict[int, WrittenStatus]]:
    def decode(data: Any) -> dict[int, WrittenStatus]:
        if data["repository"] != f"{hub.host}/{hub.repository}":
            return {}
        return {
            int(issue_number): WrittenStatus(int(comment), str(shown), str(essence), float(at))
            for issue_number, (comment, shown, essence, at) in data["comments"].items()
        }

    return JsonFile(ws.cache_dir / KEPT, decode, dict)


def _store(ws: Workspace, hub: GitHubRepository, written: Mapping[int, WrittenStatus]) -> None:
    newest = sorted(written, key=lambda issue_number: written[issue_number].at)[-MOST:]
    file = _known(ws, hub)
    # A lost entry costs a request: the comment is looked up again.
    if file.read() != written or len(newest) < len(written):
        comments = {str(issue): written[issue] for issue in sorted(newest)}
        file.write({"repository": f"{hub.host}/{hub.repository}", "comments": comments})
