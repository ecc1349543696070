"""Syncing, as a command: exchange state, make up for what could not be done offline, and look."""

from ghp_agents.model.liveness import Liveness
from ghp_agents.model.state import SyncReport
from ghp_agents.ports import IssueTracker, Leaser, StateStore
from ghp_agents.services import (
    claim_owed,
    claim_sight,
    escalation,
    issue,
    lapse,
    news,
    note,
    presence,
    ruling,
    settling,
)
from ghp_agents.workspace import Workspace


def sync(
    ws: Workspace,
    store: StateStore,
    leaser: Leaser,
    tracker: IssueTracker,
    *,
    push: bool = True,
    publish: bool = False,
    paced: bool = False,
) -> SyncReport:
    """One exchange with the coordination remote, and what follows from it.

    `paced` is for background processes: no more often than hosts advise.
    A remote that cannot be reached is in the report. Raises GhpError for what is wrong here.
    """
    report = store.sync(push=push, paced=paced)
    sends = report.fetched and push and not report.trouble
    notes: list[str] = []
    if report.fetched:
        claim_sight.observe(ws, leaser)
        lapse.observe(ws, store)
        claim_owed.pay(ws, leaser, tracker)
    if sends:
        issue.name_provisional(ws, store, leaser)
        notes += escalation.post_owed(ws, store, tracker)
        note.withdraw(ws, store)
    notes += settling.settle(ws, store, leaser, tracker)
    if sends and store.standing().unsent:
        report = _together(report, store.sync(push=push))
    report = report._replace(notes=(*report.notes, *notes))
    snapshot = store.snapshot()
    seen = presence.look(ws, store, snapshot, processes=False)
    news.ring(ws, snapshot, leaser)
    ruling.refresh(ws, store, leaser, tracker)
    if publish and report.remote and not report.trouble:
        gone = {view.name for view in seen if view.liveness is Liveness.GONE}
        report = _together(report, store.publish(gone=gone))
    return report


def _together(first: SyncReport, second: SyncReport) -> SyncReport:
    return second._replace(
        pushed=first.pushed or second.pushed,
        news=first.news + second.news,
        notes=(*first.notes, *second.notes),
    )
