"""Syncing, as a command: exchange state, give numbers to issues made offline, remember who moved."""


from ghp_agents.model.state import SyncReport
from ghp_agents.ports import Leaser, StateStore
from ghp_agents.services import issue, presence
from ghp_agents.workspace import Workspace


def sync(
    ws: Workspace,
    store: StateStore,
    leaser: Leaser,
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
    if report.fetched and push and not report.trouble and issue.name_provisional(ws, store, leaser):
        report = _together(report, store.sync(push=push))
    presence.look(ws, store, store.snapshot(), processes=False)
    if publish and not report.trouble:
        report = _together(report, store.publish())
    return report


def _together(first: SyncReport, second: SyncReport) -> SyncReport:
    return second._replace(pushed=first.pushed or second.pushed,
        news=first.news + second.news,
        notes=(*first.notes, *second.notes),
    )
