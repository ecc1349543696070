"""The ledger, as people ask for it: by agent, issue, event, and since when."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ghp_agents.clock import to_seconds
from ghp_agents.model.ledger import LedgerEntry


class Question(NamedTuple):
    """Which entries are wanted; None for all."""

    agent: str | None = None
    issues: frozenset[int] | None = None  # all numbers of one issue: it may have had another
    event: str | None = None
    since: float | None = None  # seconds


def select(entries: Iterable[LedgerEntry], question: Question) -> list[LedgerEntry]:
    """The entries that answer a question, in ledger order."""
    return [entry for entry in entries if _fits(entry, question)]


def newer(entries: Sequence[LedgerEntry], told: set[str]) -> list[LedgerEntry]:
    """Entries that were not told yet; `told` has their ids and is added to."""
    fresh = [entry for entry in entries if entry.id not in told]
    told.update(entry.id for entry in fresh)
    return fresh


def _fits(entry: LedgerEntry, question: Question) -> bool:
    return (
        (question.agent is None or entry.actor == question.agent)
        and (question.issues is None or entry.issue in question.issues)
        and (question.event is None or entry.event == question.event)
        and (question.since is None or to_seconds(entry.at) >= question.since)
    )
