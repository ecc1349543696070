"""What a request may ask of a clone with a token.

A record names its author, and nothing proves the name. So an agent may ask only for what shows its
own work: what it has to say, and the issue whose claim the lock gives it. The rest is for people
and orchestrators, who may decide here as they do by `ghp agent-issue`.
"""

from collections.abc import Collection

from ghp_agents.github.tokenless.request import CHANGE, CREATE, PULL, WriteRequest
from ghp_agents.issues.issue import NO_CHANGE, IssueChange
from ghp_agents.settings import rights


def as_held(change: IssueChange, holder: str, by: str) -> tuple[IssueChange, IssueChange]:
    """A change in two parts: what only shows who has the lock and that `by` gave it up, and the
    rest. `holder` is empty for nobody."""
    added = tuple(name for name in change.add_assignees if name == holder)
    removed = tuple(
        name
        for name in change.remove_assignees
        if name != holder and by in (name, holder)  # itself, or whom it took over from
    )
    shown = IssueChange(add_assignees=added, remove_assignees=removed)
    rest = change._replace(
        add_assignees=tuple(name for name in change.add_assignees if name not in added),
        remove_assignees=tuple(name for name in change.remove_assignees if name not in removed),
    )
    return shown, rest


def allowed(
    request: WriteRequest, holder: str | None, orchestrators: Collection[str]
) -> tuple[IssueChange, str]:
    """The part of a request's change that may be sent, and why the rest may not (empty: all may).

    `holder` holds the claim of the request's issue; empty for nobody, None if unknown.
    """
    by, change = request.by, request.change
    if rights.may_direct(by, orchestrators):
        return change, ""
    if request.kind == CREATE:
        others = tuple(name for name in change.add_assignees if name != by.name)
        return (NO_CHANGE, "an agent assigns new issues to itself only") if others else (change, "")
    if request.kind == PULL:
        return change, "" if holder == by.name else f"{by.name} does not have the claim"
    if request.kind != CHANGE:
        return change, ""
    shown, rest = as_held(change, holder or "", by.name)
    assigns = rest.add_assignees or rest.remove_assignees
    if rest == NO_CHANGE or (holder == by.name and not assigns):
        return change, ""
    return shown, f"{by.name} does not have the claim, and is neither a person nor an orchestrator"
