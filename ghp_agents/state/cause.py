"""Why a lock, a ledger entry or a question was created: structured fields for decisions.

The reason is text for people that anyone can type, so no decision reads it. `legacy_causes.py`
reads records of versions without a cause.
"""

from typing import NamedTuple

# Why a lock changed.
CLAIM = "claim"  # it was free
TAKEOVER = "takeover"  # its holder was dead
STEAL = "steal"  # taken from a living holder
GIVEN = "given"  # the holder `by` gave it to another
ORDERED = "ordered"  # the person `by` ordered it in the comment `ref`
RELEASE = "release"  # its holder released it
GAVE_UP = "gave-up"  # its holder `by` failed at it; `ref` is the question to a person, if any
CLOSED = "closed"  # its issue is closed
MERGED = "merged"  # its work is merged; `ref` is the pull request
SWEPT = "swept"  # a sweep found its holder dead; `ref` is the holder's state
DISPUTE = "dispute"  # the remote lost its history; `by` is one of the two holders
SWEEP = "sweep"  # the lock on sweeping; `ref` is the clone that sweeps
UNKNOWN = "unknown"  # no cause was recorded

# What a question is about.
QUESTION = "question"  # any question of an agent
LAST_RESORT = "last-resort"  # how to go on after too many attempts
OVERLAP = "overlap"  # two leases overlap
DISPUTED = "disputed"  # who holds a lock of which the remote lost history
OWNERS = "owners"  # two agents are assigned to an issue
CIRCLE = "circle"  # agents wait for each other
SHARED_FILES = "shared"  # whether an agent may lease shared files
WANTED_FILE = "file"  # whether an agent may change a file that it is refused
TAKEN_OUT = "taken-out"  # whether a branch brings back commits that were taken out of main
WORKFLOW = "workflow"  # a step of a workflow
CHOICE = "choice"  # whether, or how, work that is already done goes on
DECIDED = (OVERLAP, CIRCLE, SHARED_FILES, WANTED_FILE)  # a decision on these is carried out


class Cause(NamedTuple):
    """Why something was created, and by whom."""

    kind: str
    by: str = ""
    ref: str = ""


CLAIMED = Cause(CLAIM)
RELEASED = Cause(RELEASE)
