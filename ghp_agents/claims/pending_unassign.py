"""Pending unassignments of former holders.

An assignment may be unknown here when the lock changes hands. A later sync brings it, and then it
is removed, once."""

import json
from collections.abc import Mapping

from ghp_agents.core import files
from ghp_agents.core.ids import Actor
from ghp_agents.issues.issue import Issue
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import PREFIX, claimed_issue
from ghp_agents.ports import Context
from ghp_agents.workspace import Workspace

OWED = "claims-owed.json"

Debts = Mapping[
    str, tuple[str, str, str, bool]
]  # by lock: nonce, former holder, new holder, whether that is a person


def add(ws: Workspace, issue: Issue, lease: Lock, former: str, by: Actor) -> None:
    """Remember to unassign `former`, if the assignment is not known here yet."""
    debts = _read(ws)
    left = {name: debt for name, debt in debts.items() if name != lease.name}
    if former not in issue.assignees:
        left[lease.name] = (lease.nonce, former, by.name, by.is_person)
    _write(ws, debts, left)


def apply_pending(ctx: Context) -> None:
    """Remove assignments that have arrived; drop entries of replaced claims. Raises GhpError."""
    debts = _read(ctx.ws)
    if not debts:
        return
    known = {lease.name: lease for lease in ctx.leaser.known(PREFIX)}
    issues: dict[int, Issue] = {
        number: issue for issue in ctx.tracker.known(closed=True) for number in issue.numbers
    }
    left = dict(debts)
    for name, (nonce, former, by, is_person) in debts.items():
        lease, issue = known.get(name), issues.get(claimed_issue(name) or 0)
        if lease is None or lease.nonce != nonce or issue is None or issue.state == "closed":
            del left[name]
        elif former in issue.assignees:
            ctx.tracker.show(issue.number, Actor(by, is_person), remove=(former,))
            del left[name]
    _write(ctx.ws, debts, left)


def _read(ws: Workspace) -> dict[str, tuple[str, str, str, bool]]:
    try:
        known = json.loads((ws.cache_dir / OWED).read_bytes())
        return {
            str(name): (str(nonce), str(former), str(by), is_person is True)
            for name, (nonce, former, by, is_person) in known.items()
        }
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _write(ws: Workspace, before: Debts, after: Debts) -> None:
    if before == after:
        return
    try:
        files.write_atomically(ws.cache_dir / OWED, json.dumps(after).encode())
    except OSError:
        return  # then a former holder stays assigned next to the holder
