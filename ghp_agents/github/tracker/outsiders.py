"""Issues of people who may not write: whether somebody who may write gave them to agents, and since
when. Everybody can open an issue, so an issue alone is no order.

What counts is an event behind a label or an assignment that still stands. The time is that of the
first such event: later labels may be those that this program sets by itself.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ghp_agents.github.accounts import WORKFLOWS
from ghp_agents.github.api.errors import GoneError, MissingError
from ghp_agents.github.labels import agent_of
from ghp_agents.github.tracker import outsider_edits as edits
from ghp_agents.github.tracker.context import TrackerContext
from ghp_agents.github.tracker.mapping import MirroredIssue
from ghp_agents.github.tracker.trust import ADDED, TAKEN, about, login_of, trusted

# GitHub's own labels for what nobody should work on.
REFUSALS = frozenset({"duplicate", "invalid", "question", "wontfix"})


def looked_up(
    source: TrackerContext,
    read: Sequence[MirroredIssue],
    known: Mapping[int, MirroredIssue],
    *,
    closed: bool = False,
) -> list[MirroredIssue]:
    """The issues with whether their authors may write; of the others, since when they are given to
    somebody, and the text that they had then. Asks once for each author. Closed issues are looked
    up only with `closed`: there are many, and nobody takes them."""
    asked = {each.author for each in read if closed or each.state == "open"}
    may = {author: trusted(source, author) for author in sorted(asked)}
    found = [each._replace(by_writer=may.get(each.author)) for each in read]
    found = [_given(source, each, _same(known, each)) for each in found]
    return edits.looked_up(source, found, known)


def _same(known: Mapping[int, MirroredIssue], told: MirroredIssue) -> MirroredIssue | None:
    had = known.get(told.number)
    return had if had and had.id == told.id else None


def _given(source: TrackerContext, told: MirroredIssue, had: MirroredIssue | None) -> MirroredIssue:
    """The issue with the time since when it is given to somebody; none if it is not."""
    if told.by_writer is not False or told.state == "closed":
        return told._replace(given_at="")
    standing = _gifts(source, told)
    at = _first(source, told.number, standing) if standing else ""
    before = had.given_at if had else ""
    if not at and told.proven:  # by a right that is held, or by ourselves a moment ago
        at = before or told.updated_at
    return told._replace(given_at=min(filter(None, (at, before))) if at else "")


def _gifts(source: TrackerContext, told: MirroredIssue) -> set[str]:
    """The labels in small letters, and the @accounts, that can show that it is given."""
    found = {label.lower() for label in told.labels} - source.signs - REFUSALS
    return found | {f"@{login.lower()}" for login in told.assignees}


def _first(source: TrackerContext, number: int, standing: set[str]) -> str:
    """When somebody who may write first gave it, if one of the gifts that stand is theirs."""
    try:
        events = source.hub.get_all(f"issues/{number}/events")
    except (MissingError, GoneError):
        return ""
    last: dict[str, bool] = {}
    times: list[str] = []
    for event in _gifts_in(events):
        key = about(event)
        last[key] = event["event"] in ADDED and _may_give(source, key, event)
        if last[key] and (key in standing or key.startswith("@") or agent_of(key, source.signs)):
            times.append(str(event.get("created_at") or ""))
    return min(times, default="") if any(last.get(key) for key in standing) else ""


def _gifts_in(events: Sequence[Any]) -> Iterable[Mapping[str, Any]]:
    kinds = ADDED | TAKEN
    return (each for each in events if isinstance(each, dict) and each.get("event") in kinds)


def _may_give(source: TrackerContext, key: str, event: Mapping[str, Any]) -> bool:
    """Whether who gave it may. A workflow may set any label by itself, so of its labels only an
    agent's name is an order."""
    actor = login_of(event.get("assigner") or event.get("actor"))
    if actor.casefold() == WORKFLOWS and not agent_of(key, source.signs):
        return False
    return bool(actor) and trusted(source, actor)
