"""Leases taken as the command takes them: what is shared needs approval."""

from ghp_agents.guard import approval
from ghp_agents.leases import acquire
from ghp_agents.leases.acquire import LeaseResult
from ghp_agents.leases.request import LeaseRequest
from ghp_agents.ports import Context


def take(ctx: Context, wanted: LeaseRequest) -> LeaseResult:
    """Take a lease, or raise RefusedError with who has it."""
    return acquire.acquire(ctx, approval.approver(ctx), wanted)
