"""Leases taken as the command takes them: what is shared needs approval."""

from ghp_agents.guard import approval
from ghp_agents.leases import acquire
from ghp_agents.leases.acquire import LeaseResult
from ghp_agents.leases.request import LeaseRequest
from ghp_agents.ports import IssueTracker, LockService, StateStore
from ghp_agents.workspace import Workspace


def take(
    ws: Workspace,
    store: StateStore,
    leaser: LockService,
    tracker: IssueTracker,
    wanted: LeaseRequest,
) -> LeaseResult:
    """Take a lease, or raise RefusedError with who has it."""
    approve = approval.approver(ws, store, leaser, tracker)
    return acquire.acquire(ws, store, leaser, approve, wanted)
