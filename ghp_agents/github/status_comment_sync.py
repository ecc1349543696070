"""Keeping the comment that shows the state of an issue: one for each, made once and then changed.

Who holds the claim keeps it, or whoever did so last; so does whoever obeyed an order or swept the
issue. It follows from the state, so nothing of it waits anywhere: a sync compares and writes what
differs. Where two clones made one at once, the younger is taken back by the clone that made it.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ghp_agents.core import files
from ghp_agents.core.ids import digest
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import Escalation
from ghp_agents.github import marker as github_marker
from ghp_agents.github import status_comment as text
from ghp_agents.github.accounts import WORKFLOWS
from ghp_agents.github.api.errors import ForbiddenError, GoneError, HubError, MissingError
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.github.status_comment import BY, MARKER, IssueStatus
from ghp_agents.handoffs import record as handoff_record
from ghp_agents.handoffs.handoff import ordered
from ghp_agents.hotpath.heartbeat import is_name
from ghp_agents.issues import comment_commands as command_record
from ghp_agents.issues.comment_commands import Obeyed
from ghp_agents.issues.issue import PROVISIONAL, Issue
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import PREFIX, claimed_issue
from ghp_agents.ports import LockService, Snapshot
from ghp_agents.presence.service import AgentView
from ghp_agents.state.presence import issue_of, number
from ghp_agents.workspace import Workspace

KEPT = "hub/state-comments.json"  # in the folder of caches
OFTEN = 60.0  # seconds between two changes that say only how far the work is
MOST = 1_000  # comments that are remembered
FEW = 30  # that are written in one go: a second apart, the rest come with the next sync


class WrittenStatus(NamedTuple):
    """What this clone last wrote on an issue."""

    comment: int
    text: str  # digests
    essence: str
    at: float


def refresh(
    ws: Workspace,
    hub: GitHubRepository,
    leaser: LockService,
    snapshot: Snapshot,
    issues: Iterable[Issue],
    views: Sequence[AgentView],
    also: Collection[int] = (),
) -> None:
    """Write what differs, on this clone's issues and `also` on others. Raises UnknownError."""
    known = _load(ws, hub)
    by_number: dict[int, Issue] = {n: issue for issue in issues for n in issue.numbers}
    look = _Look(ws, leaser, snapshot, views)
    for one in sorted(known.keys() - also):
        if look.is_elsewhere(one):
            del known[one]
    wanted = {*known, *look.ours, *also} & by_number.keys()
    written = 0
    try:
        for one in sorted(wanted):
            issue = by_number[one]
            if issue.number >= PROVISIONAL or (written >= FEW and one not in also):
                continue
            written += _keep(ws, hub, known, look.facts(issue), force=one in also)
    finally:
        _store(ws, hub, known)


class _Look:
    """The state as far as the comments show it."""

    def __init__(
        self, ws: Workspace, leaser: LockService, snapshot: Snapshot, views: Sequence[AgentView]
    ) -> None:
        found = {claimed_issue(each.name): each for each in leaser.known(PREFIX) if each.holder}
        self._held: dict[int, Lock] = {n: each for n, each in found.items() if n is not None}
        self._views = {view.name: view for view in views}
        self._snapshot = snapshot
        orchestrators = ws.settings.orchestrators
        self._asked: list[Escalation] = escalation.read_all(snapshot, orchestrators)[0]
        self._commands: list[Obeyed] = command_record.read_commands(
            snapshot.files(command_record.FOLDER)
        )[0]
        self._stopped = command_record.stopped(self._commands)

    @property
    def ours(self) -> set[int]:
        """The issues that agents of this clone hold."""
        return {one for one in self._held if self._is_here(one)}

    def is_elsewhere(self, one: int) -> bool:
        """Whether an agent of another clone has it, which keeps the comment."""
        view = self._view(one)
        return view is not None and not view.is_here

    def facts(self, issue: Issue) -> IssueStatus:
        """All that the comment shows of an issue."""
        lease = next((self._held[n] for n in issue.numbers if n in self._held), None)
        view = self._view(issue.number)
        said = view.presence if view and issue_of(view.presence) in issue.numbers else {}
        folder = handoff_record.folder_of(issue.number)
        handoffs = ordered(handoff_record.read_handoffs(self._snapshot.files(folder))[0])
        on_it = [each for each in self._asked if each.question.issue in issue.numbers]
        commands = [each for each in self._commands if each.issue in issue.numbers]
        return IssueStatus(
            number=issue.number,
            closed=issue.state == "closed",
            lease=lease,
            assigned=tuple(each for each in issue.assignees if is_name(each)),
            status=str(said.get("status") or ""),
            branch=str(said.get("branch") or ""),
            pull=number(said, "pull") or None,
            handoff=handoffs[-1] if handoffs else None,
            questions=tuple(each for each in on_it if each.is_open),
            command=commands[-1] if commands else None,
            stopped=issue.number in self._stopped,
        )

    def _view(self, one: int) -> AgentView | None:
        lease = self._held.get(one)
        return self._views.get(lease.holder or "") if lease and not lease.is_person else None

    def _is_here(self, one: int) -> bool:
        view = self._view(one)
        return view is not None and view.is_here


# -------------------------------------------------------------------------------- writing


def _keep(
    ws: Workspace,
    hub: GitHubRepository,
    known: dict[int, WrittenStatus],
    facts: IssueStatus,
    *,
    force: bool,
) -> bool:
    """Bring one comment up to date; whether GitHub was asked to."""
    now, had = ws.clock.now(), known.get(facts.number)
    shown, essence = digest(text.render(facts)), digest(text.essence(facts))
    if had and had.text == shown and not force:
        return False
    is_soon = had is not None and 0 <= now - had.at < OFTEN
    if had and had.essence == essence and is_soon and not force:
        return False
    identity = digest("state", hub.repository, str(facts.number))
    body = github_marker.signed(text.render(facts), github_marker.mark(identity, BY, MARKER))
    comment = had.comment if had else 0
    with suppress(ForbiddenError, MissingError, GoneError):  # tried again when there is news
        comment = (_changed(hub, comment, body) if comment else 0) or _said(hub, facts.number, body)
    known[facts.number] = WrittenStatus(comment, shown, essence, now)
    return True


def _changed(hub: GitHubRepository, comment: int, body: str) -> int:
    """The comment, with this text; 0 if it is gone."""
    path = f"issues/comments/{comment}"
    try:
        if hub.get(path).body.get("body") != body:
            hub.write("PATCH", path, {"body": body})
    except (MissingError, GoneError):
        return 0
    return comment


def _said(hub: GitHubRepository, issue: int, body: str) -> int:
    """The comment of an issue, with this text: the one that is there, or a new one."""
    for comment in _there(hub, issue):
        if _changed(hub, comment, body):
            return comment

    def there() -> Any | None:
        found = _there(hub, issue)
        return {"id": found[0]} if found else None

    made = int(hub.write("POST", f"issues/{issue}/comments", {"body": body}, there=there)["id"])
    first = min([made, *_there(hub, issue)])
    if first != made and _changed(hub, first, body):
        with suppress(HubError):
            hub.write("DELETE", f"issues/comments/{made}")
        return first
    return made


def _there(hub: GitHubRepository, issue: int) -> list[int]:
    """The comments about the state of an issue, oldest first; what others forged is none."""
    once = github_marker.once(MARKER)
    found: list[int] = []
    for told in hub.get_all(f"issues/{issue}/comments"):
        _, mark = github_marker.split_marker(str(told.get("body") or ""))
        if mark and mark.once == once and _is_trusted(hub, told):
            found.append(int(told["id"]))
    return sorted(found)


def _is_trusted(hub: GitHubRepository, told: Mapping[str, Any]) -> bool:
    login = str((told.get("user") or {}).get("login") or "")
    if login == WORKFLOWS:
        return True  # a sweep of the repository's own has made it
    try:
        is_ours = bool(login) and login == hub.viewer()
    except HubError:
        is_ours = False
    return is_ours or hub.may_command(login)


# ------------------------------------------------------------------------------ remembering


def _load(ws: Workspace, hub: GitHubRepository) -> dict[int, WrittenStatus]:
    try:
        told = json.loads((ws.cache_dir / KEPT).read_bytes())
        if told["repository"] != f"{hub.host}/{hub.repository}":
            return {}
        return {
            int(one): WrittenStatus(int(comment), str(shown), str(essence), float(at))
            for one, (comment, shown, essence, at) in told["comments"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _store(ws: Workspace, hub: GitHubRepository, known: Mapping[int, WrittenStatus]) -> None:
    newest = sorted(known, key=lambda one: known[one].at)[-MOST:]
    told = {
        "repository": f"{hub.host}/{hub.repository}",
        "comments": {str(one): list(known[one]) for one in sorted(newest)},
    }
    if _load(ws, hub) != known or len(newest) < len(known):
        with suppress(OSError):  # then the comment is looked for
            files.write_atomically(ws.cache_dir / KEPT, json.dumps(told).encode())
