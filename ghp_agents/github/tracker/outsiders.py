"""Issues of people without write permission: when somebody with permission assigned them.

Anybody can open an issue, so an issue alone is not an order. What counts is the event behind a
label or an assignment that still exists. The time is that of the first such event, because this
program may have set later labels.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ghp_agents.github.accounts import WORKFLOWS
from ghp_agents.github.api.errors import GoneError, MissingError
from ghp_agents.github.labels import agent_of
from ghp_agents.github.tracker import outsider_edits
from ghp_agents.github.tracker.context import TrackerContext
from ghp_agents.github.tracker.mapping import MirroredIssue
from ghp_agents.github.tracker.trust import (
    ADDED,
    TAKEN,
    about,
    earlier,
    login_of,
    trusted,
    with_missing_event,
)
from ghp_agents.jobs.job_state import LABELS

# GitHub's own labels for what nobody should work on.
REFUSALS = frozenset({"duplicate", "invalid", "question", "wontfix"})


def looked_up(
    context: TrackerContext,
    read: Sequence[MirroredIssue],
    mirrored: Mapping[int, MirroredIssue],
    *,
    closed: bool = False,
) -> list[MirroredIssue]:
    """The issues, each marked with whether its author may write. Issues of other authors also get
    the time of assignment and the text at that time. Sends one request per author. Closed issues
    are looked up only with `closed`: there are many, and nobody claims them."""
    authors = {issue.author for issue in read if closed or issue.state == "open"}
    may = {author: trusted(context, author) for author in sorted(authors)}
    entries = [issue._replace(by_writer=may.get(issue.author)) for issue in read]
    entries = [_with_given_at(context, issue, earlier(issue, mirrored)) for issue in entries]
    return outsider_edits.looked_up(context, entries, mirrored)


def _with_given_at(
    context: TrackerContext, issue: MirroredIssue, previous: MirroredIssue | None
) -> MirroredIssue:
    """The issue with the time since when it is assigned; empty if it is not."""
    if issue.by_writer is not False or issue.state == "closed":
        return issue._replace(given_at="")
    standing = _gifts(context, issue)
    at, is_missing = _first_given_at(context, issue.number, standing) if standing else ("", False)
    before = previous.given_at if previous else ""
    if not at and issue.proven:  # by a held lock, or by ourselves a moment ago
        at = before or issue.updated_at
    if is_missing and not at:
        issue = with_missing_event(issue, previous, context.ws.clock.now())
    return issue._replace(given_at=min(filter(None, (at, before))) if at else "")


def _gifts(context: TrackerContext, issue: MirroredIssue) -> set[str]:
    """The lower-case labels and the @accounts that can show an assignment."""
    labels = {label.lower() for label in issue.labels} - context.signs - REFUSALS - LABELS
    return labels | {f"@{login.lower()}" for login in issue.assignees}


def _first_given_at(context: TrackerContext, number: int, standing: set[str]) -> tuple[str, bool]:
    """When somebody with write permission first assigned it, if one of those assignments still
    exists; and whether the event of one is missing."""
    try:
        events = context.hub.get_all(f"issues/{number}/events")
    except (MissingError, GoneError):
        return "", True
    is_there: dict[str, bool] = {}
    last: dict[str, bool] = {}
    times: list[str] = []
    for event in _gifts_in(events):
        key = about(event)
        is_there[key] = event["event"] in ADDED
        last[key] = event["event"] in ADDED and _may_give(context, key, event)
        if last[key] and (key in standing or key.startswith("@") or agent_of(key, context.signs)):
            times.append(str(event.get("created_at") or ""))
    at = min(times, default="") if any(last.get(key) for key in standing) else ""
    return at, not all(is_there.get(key) for key in standing)


def _gifts_in(events: Sequence[Any]) -> Iterable[Mapping[str, Any]]:
    kinds = ADDED | TAKEN
    return (event for event in events if isinstance(event, dict) and event.get("event") in kinds)


def _may_give(context: TrackerContext, key: str, event: Mapping[str, Any]) -> bool:
    """Whether the event's actor may assign. A workflow can set any label by itself, so of its
    labels only an agent's name counts."""
    actor = login_of(event.get("assigner") or event.get("actor"))
    if actor.casefold() == WORKFLOWS and not agent_of(key, context.signs):
        return False
    return bool(actor) and trusted(context, actor)
