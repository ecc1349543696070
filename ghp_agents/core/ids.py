"""Names, and the one check that lets a name into a path."""

import re
from collections.abc import Iterable
from itertools import pairwise, takewhile
from typing import NamedTuple, NewType

from ghp_agents.core.errors import UsageError
from ghp_agents.hotpath import heartbeat as pulse
from ghp_agents.hotpath.quoting import byte_of as byte_of
from ghp_agents.hotpath.quoting import one_line as one_line

AgentName = NewType("AgentName", str)
CloneId = NewType("CloneId", str)
IssueNumber = NewType("IssueNumber", int)
Timestamp = NewType("Timestamp", str)  # ISO 8601, UTC, with Z

UNNAMED = CloneId("unnamed")  # a clone in which nothing was ever said
NUMBERS_END = 2**53  # numbers in records are below: of more no reader of JSON is sure

_SLUG = re.compile(r"[^a-z0-9]+")

KNOWN_STATUSES = (
    "idle",
    "planning",
    "implementing",
    "testing",
    "reviewing",
    "waiting",
    "blocked",
    "done",
    "stopped",
)


class Actor(NamedTuple):
    """Who says something: an agent by its name, or a person by git's user name."""

    name: str
    is_person: bool = False

    def __str__(self) -> str:
        return self.name


def agent_name(text: str) -> AgentName:
    """Check an agent's name by the rule of the fast road. Raises UsageError."""
    if not pulse.is_name(text):
        raise UsageError(
            f"{text[:80]!r} is not a name for an agent.",
            hint="Use a-z, 0-9, '.', '_', '-', a letter or digit first, at most 63: worker-1.",
        )
    return AgentName(text)


def status_name(text: str) -> str:
    """Check a status; the vocabulary is open. Raises UsageError."""
    if not pulse.is_status(text):
        raise UsageError(
            f"{text[:80]!r} is not a status.",
            hint=f"Use lower-case words and '-', such as {', '.join(KNOWN_STATUSES)}.",
        )
    return text


def short_ids(ids: Iterable[str], least: int = 4) -> dict[str, str]:
    """Each id as short as it is unique among them, and no shorter than `least`."""
    known = sorted(set(ids))
    lengths = dict.fromkeys(known, least)
    for one, other in pairwise(known):
        pairs = zip(one, other, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        lengths[one] = max(lengths[one], same + 1)
        lengths[other] = max(lengths[other], same + 1)
    return {each: each[:length] for each, length in lengths.items()}


def slug(text: str, limit: int = 35) -> str:
    """A title as part of a branch or file name."""
    return _SLUG.sub("-", text.lower()).strip("-")[:limit].strip("-")


def digest(*parts: str, length: int = 12) -> str:
    """A short id made from content; the same parts give the same id on every machine."""
    from hashlib import sha256  # loads OpenSSL: as much as a tenth of `import click`

    return sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:length]


# Upstream GHP's patterns, in its order.
_BRANCH_ISSUE = tuple(
    re.compile(pattern) for pattern in (r"/(\d+)-", r"^(\d+)-", r"-(\d+)-", r"[/#](\d+)$")
)


def issue_of_branch(branch: str) -> IssueNumber | None:
    """The issue that a branch is for, by upstream GHP's four patterns."""
    for pattern in _BRANCH_ISSUE:
        found = pattern.search(branch)
        if found and 0 < int(found[1]) < NUMBERS_END:
            return IssueNumber(int(found[1]))
    return None
