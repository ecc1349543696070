"""Why a right, an entry of the ledger or a question came to be: fields, which decisions read.

A reason is for people to read and anybody can type it, so no decision reads it. Records of versions
that had no such field are understood by `legacy_causes.py`.
"""

from typing import NamedTuple

# Why a right is as it is.
CLAIM = "claim"  # it was free
TAKEOVER = "takeover"  # its holder was dead
STEAL = "steal"  # it was taken from a living holder
GIVEN = "given"  # `by` somebody who gave it on
ORDERED = "ordered"  # `by` a person in a comment, which `ref` names
RELEASE = "release"  # it was given back
CLOSED = "closed"  # its issue is closed
MERGED = "merged"  # its work is on the trunk; `ref` names the pull request
SWEPT = "swept"  # its holder was dead for a sweep; `ref` is the holder's state
DISPUTE = "dispute"  # the remote lost its history; `by` one of the two who had it
SWEEP = "sweep"  # it is the right to sweep; `ref` is the clone that sweeps
UNKNOWN = "unknown"  # nobody wrote it down

# What a question is about.
QUESTION = "question"  # whatever an agent asks
LAST_RESORT = "last-resort"  # how to go on after too many attempts
OVERLAP = "overlap"  # two leases of the same files


class Cause(NamedTuple):
    """Why something came to be, and by whom."""

    kind: str
    by: str = ""
    ref: str = ""


CLAIMED = Cause(CLAIM)
RELEASED = Cause(RELEASE)
