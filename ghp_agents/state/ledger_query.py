"""Ledger queries: by agent, issue, event, and time."""

import difflib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ghp_agents.core.clock import to_seconds
from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import one_line
from ghp_agents.state.ledger import EVENTS, LedgerEntry


class LedgerQuery(NamedTuple):
    """Which entries to select; None for all."""

    agent: str | None = None
    issues: frozenset[int] | None = None  # all numbers of one issue: it may have been renumbered
    event: str | None = None
    since: float | None = None  # seconds
    until: float | None = None


def select(entries: Iterable[LedgerEntry], question: LedgerQuery) -> list[LedgerEntry]:
    """The entries that match a query, in ledger order."""
    return [entry for entry in entries if _fits(entry, question)]


def by_time(entries: Iterable[LedgerEntry]) -> list[LedgerEntry]:
    """Entries in the order of their own times, for people; those of one time in ledger order. One
    whose time cannot be read stays behind its predecessor."""
    timed: list[tuple[float, LedgerEntry]] = []
    for entry in entries:
        try:
            at = to_seconds(entry.at)
        except (ValueError, OverflowError):
            at = timed[-1][0] if timed else 0.0
        timed.append((at, entry))
    return [entry for _, entry in sorted(timed, key=lambda pair: pair[0])]


def check_event(event: str, entries: Iterable[LedgerEntry]) -> None:
    """Check that an event exists: one of ours, or one that another version wrote. Raises
    UsageError."""
    events = sorted({*EVENTS, *(entry.event for entry in entries)})
    if event in events:
        return
    alike = difflib.get_close_matches(event[:40], events, n=1, cutoff=0.6)
    meant = f"Did you mean {alike[0]}? " if alike else ""
    raise UsageError(
        f"There is no event {one_line(event, 40)!r}.", hint=f"{meant}Known: {', '.join(events)}."
    )


def newer(entries: Sequence[LedgerEntry], shown_ids: set[str]) -> list[LedgerEntry]:
    """Entries that were not shown yet; adds their ids to `shown_ids`."""
    fresh = [entry for entry in entries if entry.id not in shown_ids]
    shown_ids.update(entry.id for entry in fresh)
    return fresh


def _fits(entry: LedgerEntry, question: LedgerQuery) -> bool:
    return (
        (question.agent is None or entry.actor == question.agent)
        and (question.issues is None or entry.issue in question.issues)
        and (question.event is None or entry.event == question.event)
        and (question.since is None or to_seconds(entry.at) >= question.since)
        and (question.until is None or to_seconds(entry.at) <= question.until)
    )
