"""Pending unassignments of former holders.

An assignment may be unknown here when the lock changes hands. A later sync brings it, and then it
is removed, once."""

from typing import Any, NamedTuple

from ghp_agents.core.ids import Actor
from ghp_agents.core.json_file import JsonFile
from ghp_agents.issues.issue import Issue
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import claimed_issue
from ghp_agents.ports import Context
from ghp_agents.workspace import Workspace

OWED_FILE = "claims-owed.json"


class Pending(NamedTuple):
    """A former holder to unassign once a sync brings the assignment."""

    nonce: str  # of the lock that replaced theirs
    former: str
    by: str
    by_person: bool


def add(ws: Workspace, issue: Issue, lock: Lock, former: str, by: Actor) -> None:
    """Remember to unassign `former`, if the assignment is not known here yet."""
    before = _file(ws).read()
    left = {name: pending for name, pending in before.items() if name != lock.name}
    if former not in issue.assignees:
        left[lock.name] = Pending(lock.nonce, former, by.name, by.is_person)
    if left != before:
        _file(ws).write(left)


def apply_pending(ctx: Context) -> None:
    """Remove assignments that have arrived; drop entries of replaced claims. Raises GhpError."""
    before = _file(ctx.ws).read()
    if not before:
        return
    locks = ctx.world.claim_locks
    issues: dict[int, Issue] = {
        number: issue for issue in ctx.tracker.known(closed=True) for number in issue.numbers
    }
    left = dict(before)
    for name, pending in before.items():
        number = claimed_issue(name) or 0
        lock, issue = locks.get(number), issues.get(number)
        replaced = lock is None or lock.nonce != pending.nonce
        if replaced or issue is None or issue.state == "closed":
            del left[name]
        elif pending.former in issue.assignees:
            by = Actor(pending.by, pending.by_person)
            ctx.tracker.set_holder(issue.number, by, remove=(pending.former,))
            del left[name]
    if left != before:
        _file(ctx.ws).write(left)


def _file(ws: Workspace) -> JsonFile[dict[str, Pending]]:
    return JsonFile(ws.cache_dir / OWED_FILE, _decode, dict)


def _decode(value: Any) -> dict[str, Pending]:
    return {
        str(name): Pending(str(nonce), str(former), str(by), by_person is True)
        for name, (nonce, former, by, by_person) in value.items()
    }
