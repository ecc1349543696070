"""The typed Python API, with the same services as the commands.

from ghp_agents.api import connect

project = connect(".", agent="worker-1")
project.heartbeat(status="implementing", issue=12)
for agent in project.agents():
    print(agent.name, agent.liveness, agent.presence.get("lastAction"))
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ghp_agents.claims import service as claim
from ghp_agents.claims import shown_work
from ghp_agents.claims.service import ClaimResult, ReleasedClaim
from ghp_agents.core import moment
from ghp_agents.core.ids import agent_name, status_name
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import Escalation
from ghp_agents.guard import approval
from ghp_agents.handoffs import hand_over
from ghp_agents.handoffs.hand_over import HandOver
from ghp_agents.handoffs.handoff import Sections
from ghp_agents.hotpath import own_name
from ghp_agents.hotpath.heartbeat import clean_action
from ghp_agents.issues import service as issue
from ghp_agents.issues.issue import Comment, Issue, IssueChange
from ghp_agents.leases import acquire, settled_questions
from ghp_agents.leases import service as lease_services
from ghp_agents.leases.acquire import LeaseResult
from ghp_agents.leases.coverage import WorktreeFiles
from ghp_agents.leases.hold import Hold
from ghp_agents.leases.request import LeaseRequest
from ghp_agents.notes import recall
from ghp_agents.notes import service as note
from ghp_agents.notes.note import DEFAULT_KIND, Note
from ghp_agents.presence import people
from ghp_agents.presence import service as presence
from ghp_agents.presence.service import AgentView
from ghp_agents.pulls import finish, start
from ghp_agents.pulls.finish import Finished
from ghp_agents.pulls.merging import merge, merge_queue
from ghp_agents.pulls.merging.merge import Outcome
from ghp_agents.pulls.merging.merge_batch import Passed
from ghp_agents.pulls.merging.merge_trial import Merger
from ghp_agents.pulls.start import Started
from ghp_agents.state import ledger
from ghp_agents.state.join import SyncReport
from ghp_agents.state.ledger import LedgerEntry, LedgerQuery
from ghp_agents.sweep import service as sweep
from ghp_agents.sweep.service import SweepResult
from ghp_agents.sync import service as sync
from ghp_agents.wiring import App


def connect(
    folder: str | Path = ".", *, agent: str | None = None, environ: Mapping[str, str] | None = None
) -> "Project":
    """The project in `folder`, acting as `agent` (default: the agent that the commands find).

    Raises NotSetUpError outside of a repository, UsageError for an invalid name, RefusedError if
    an agent would act as an orchestrator.
    """
    name = agent_name(agent) if agent else None
    variables = os.environ if environ is None else environ
    app = App(Path(folder).resolve(), variables, name=name)
    ws = app.ws  # raises for a bad folder here, not at the first call
    if name:
        people.refuse(
            variables, name, own_name.whoami(ws.place, variables), ws.settings.orchestrators
        )
    return Project(app)


class Project:
    """A repository's coordination. Every method may raise GhpError; its `hint` says what to do."""

    def __init__(self, app: App) -> None:
        self._parts = app

    @property
    def _app(self) -> App:
        moment.end()  # each call sees what others did since the last one
        return self._parts

    def agents(self) -> list[AgentView]:
        """Every known agent with its liveness, over all clones."""
        app = self._app
        snapshot = app.store.snapshot()
        return shown_work.shown(app, snapshot, presence.list_agents(app, snapshot))

    def heartbeat(
        self,
        *,
        status: str | None = None,
        issue: int | None = None,
        action: str | None = None,
        progress: bool = False,
    ) -> None:
        """Renew this agent's presence; fields that are not given stay unchanged."""
        fields: dict[str, Any] = {}
        if status is not None:
            fields["status"] = status_name(status)
        if issue is not None:
            fields["issue"] = issue or None
        if action is not None:
            fields["lastAction"] = clean_action(action)
        app = self._app
        presence.heartbeat(app.ws, app.store, app.ws.agent(), fields, progress=progress)

    def log(self, question: LedgerQuery | None = None) -> list[LedgerEntry]:
        """The entries of the ledger, in its order."""
        return ledger.select(self._app.store.ledger(), question or LedgerQuery())

    def sync(self, *, push: bool = True) -> SyncReport:
        """Exchange state with the remote. If it cannot be reached, the report says so."""
        app = self._app
        return sync.sync(app, push=push, hub=app.hub)

    def issues(self, *, closed: bool = False) -> list[Issue]:
        """Open issues, with `closed` also closed ones, oldest first."""
        return self._app.tracker.list(closed=closed)

    def ready(self) -> list[Issue]:
        """Issues that can be claimed, by priority: open, unclaimed, unassigned, not blocked, not
        waiting for a person and not an epic."""
        claims = self._app.world.claims
        app = self._app
        commanded = issue.commanded(app.store)
        return issue.ready(app.ws, app.tracker.list(closed=True), claims, commanded)

    def claim(self, number: int, *, steal: bool = False, reason: str = "") -> ClaimResult:
        """Claim an issue; a claim that this agent already holds is kept.

        `steal` takes it from a living holder, as `agents.steal` allows, and needs a reason.
        Raises RefusedError if another holds it, UnknownError if the holder cannot be determined.
        """
        return claim.claim(self._app, str(number), steal=steal, reason=reason)

    def claim_next(self) -> ClaimResult:
        """Claim the best issue that is ready for this agent. Raises RefusedError without one."""
        return claim.claim_next(self._app)

    def release(self, number: int, *, to: str | None = None, reason: str = "") -> ReleasedClaim:
        """Release an issue; with `to`, assign it to another agent in the same step."""
        return claim.release(self._app, str(number), to=to, reason=reason)

    def start(self, number: int | None = None) -> Started:
        """Claim an issue, or the best ready one, and create a branch and a worktree for it.

        To work there, connect again: `connect(started.path)`. Raises RefusedError if another holds
        the issue, or none is ready.
        """
        return start.start(self._app, None if number is None else str(number))

    def finish(self, *, issue: int | None = None, draft: bool = False) -> Finished:
        """Update this branch from the main branch, run the checks and open a pull request.

        Raises RefusedError for others' issues and uncommitted changes, ChecksFailedError.
        """
        named = str(issue) if issue is not None else None
        return finish.finish(self._app, issue=named, draft=draft)

    def merge(
        self, number: int | None = None, *, patience: float = 0.0, unchecked: bool = False
    ) -> Outcome:
        """Check and merge a pull request (`Merged`), or send it back to its agent (`SentBack`).

        `number` is that of the pull request or its issue (default: that of the current branch).
        Raises RefusedError if another merge runs for longer than `patience` seconds.
        """
        named = str(number) if number is not None else None
        return merge.merge(self._merger(unchecked), named, patience=patience)

    def merge_queue(
        self, *, patience: float = 0.0, unchecked: bool = False
    ) -> list[Outcome | Passed]:
        """Merge all ready pull requests, oldest first; the outcome of each."""
        return list(merge_queue.merge_queue(self._merger(unchecked), patience=patience))

    def _merger(self, unchecked: bool) -> Merger:
        return merge.merger(self._app, cwd=self._app.cwd, unchecked=unchecked)

    def sweep(
        self, *, policy: str | None = None, dry_run: bool = False, prune: bool = False
    ) -> SweepResult:
        """Clean up after dead agents, and renew the published state. `policy` is alert, release or
        reassign (default: as configured).

        Raises RefusedError while another sweep runs, UnknownError if the remote cannot be reached.
        """
        return sweep.sweep(self._app, policy=policy, dry_run=dry_run, prune=prune)

    def lease(
        self,
        *patterns: str,
        name: str | None = None,
        reason: str = "",
        ttl: float | None = None,
        strict: bool = False,
    ) -> LeaseResult:
        """Lease files, by patterns as in a .gitignore of the folder, or a named resource.

        Raises RefusedError if another holds it, UnknownError if the holder cannot be determined.
        """
        app = self._app
        spelled = WorktreeFiles(app.ws).spelled(patterns, app.cwd) if patterns else ()
        return acquire.acquire(
            app,
            approval.approver(app),
            LeaseRequest(spelled, name, reason, ttl, strict, typed=patterns),
        )

    def leases(self) -> list[Hold]:
        """All held leases, in order of precedence."""
        return lease_services.listing(self._app).held

    def release_lease(
        self, *words: str, name: str | None = None, reason: str = ""
    ) -> lease_services.ReleasedLeases:
        """Release leases by id, by the patterns that were leased, or by name."""
        app = self._app
        return lease_services.release(app, words, name=name, cwd=app.cwd, reason=reason)

    def handoff(
        self,
        to: str | None = None,
        *,
        issue: int | None = None,
        note: str = "",
        words: Sections | None = None,
        push: bool = True,
        checkpoint: bool = False,
    ) -> HandOver:
        """Record a handoff; with `to`, give that agent the issue, the leases and the branch.

        `words` describe the work in sections. Without `push`, or if the branch cannot be pushed,
        its commits are stored with the handoff. Other clones get it with the next `sync`.
        """
        named = str(issue) if issue is not None else None
        return hand_over.hand_over(
            self._app, issue=named, to=to, note=note, words=words, push=push, checkpoint=checkpoint
        )

    def new_issue(self, change: IssueChange) -> Issue:
        """Create an issue; the title is required."""
        return self._app.tracker.create(change, self._app.ws.actor())

    def change_issue(self, number: int, change: IssueChange) -> Issue:
        """Change fields of an issue."""
        return self._app.tracker.change(number, change, self._app.ws.actor())

    def comment(self, number: int, text: str) -> Comment:
        """Comment on an issue."""
        return self._app.tracker.comment(number, text, self._app.ws.actor())

    def escalate(
        self, question: str, *, issue: int | None = None, options: Sequence[str] = ()
    ) -> Escalation:
        """Ask a person a question. Asking the same again while it is open returns that question."""
        return escalation.escalate(self._app, question, issue=issue, options=options).escalation

    def escalations(self) -> list[Escalation]:
        """All questions with their answers, oldest first."""
        return settled_questions.read(self._app.world)

    def answer(self, reference: str, text: str) -> Escalation:
        """Answer a question; `reference` is its id or a unique part of that."""
        return escalation.answer(self._app, reference, text).escalation

    def remember(self, text: str, *, kind: str = DEFAULT_KIND, issue: int | None = None) -> Note:
        """Save a fact for future agents. Saving the same again returns the same note."""
        app = self._app
        named = str(issue) if issue is not None else None
        return note.remember(app, text, project=app.project, kind=kind, issue=named).note

    def recall(self, query: str, *, limit: int = recall.LIMIT) -> list[Note]:
        """The notes that answer a question best, best first."""
        app = self._app
        return list(recall.recall(app, app.knowledge, query, limit=limit).notes)
