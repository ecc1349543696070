"""Causes of records that older versions wrote as sentences.

Used only for records without a cause. This version always writes one, so typing such a sentence
decides nothing.
"""

import re
from collections.abc import Sequence

from ghp_agents.state.cause import (
    CLOSED,
    GIVEN,
    LAST_RESORT,
    MERGED,
    ORDERED,
    OVERLAP,
    QUESTION,
    STEAL,
    SWEEP,
    SWEPT,
    UNKNOWN,
    Cause,
)

# How these reasons begin, are, or end. They are still written, for older versions and people.
GIVEN_BY = "given by "
STOLEN = "stolen: "
SWEPT_AWAY = "swept: "
ISSUE_CLOSED = "its issue is closed"
MERGED_BY = "merged by #"
OVERLAPPING = "Two leases overlap: "
TRY_AGAIN, LEAVE_IT = "Try again", "Leave it to a person"

_COMMENT = re.compile(r", (comment \d+)$")
_IN_CLONE = re.compile(r"in clone ([0-9a-z]+)$")
_SWEEPER = re.compile(r"clone ([0-9a-f]{6,40})")
_LEASE = re.compile(r"\(L-([0-9a-f]+)\)")


def of_right(name: str, holder: str | None, reason: str) -> Cause:
    """The cause of a lock's last change, from its reason."""
    ordered = _COMMENT.search(reason)
    sweeper = _SWEEPER.fullmatch(reason) if name == "sweeper" else None
    if ordered:
        return Cause(ORDERED, ref=ordered[1])
    if sweeper:
        return Cause(SWEEP, ref=sweeper[1])
    if SWEPT_AWAY in reason:
        return Cause(SWEPT, ref=reason.rpartition(" is ")[2])
    if reason.startswith(GIVEN_BY):
        return Cause(GIVEN, reason.removeprefix(GIVEN_BY).partition(": ")[0])
    if reason.startswith(STOLEN):
        return Cause(STEAL)
    if holder is None and reason == ISSUE_CLOSED:
        return Cause(CLOSED)
    if holder is None and reason.startswith(MERGED_BY):
        return Cause(MERGED)
    return Cause(UNKNOWN)


def clone_of(name: str, reason: str) -> str:
    """The clone that held the lock on the default branch; empty if the reason does not name it."""
    match = _IN_CLONE.search(reason) if name == "trunk" else None
    return match[1] if match else ""


def of_entry(event: str, text: str) -> str:
    """The cause of a ledger entry, from its text; empty if it does not matter."""
    return SWEPT if event == "release" and SWEPT_AWAY in text else ""


def of_question(
    text: str, options: Sequence[str], issue: int | None
) -> tuple[str, tuple[str, ...]]:
    """The kind of a question, and the leases that it names, from its text."""
    if text.startswith(OVERLAPPING):
        return OVERLAP, tuple(_LEASE.findall(text))
    if tuple(options) == (TRY_AGAIN, LEAVE_IT) and issue is not None:
        return LAST_RESORT, ()
    return QUESTION, ()
