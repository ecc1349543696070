"""Names and ids, and the check that lets a name into a path."""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise, takewhile
from typing import NamedTuple, NewType, TypeVar

from ghp_agents.core.errors import NotFoundError, UsageError
from ghp_agents.core.light_hashes import sha256
from ghp_agents.hotpath import heartbeat, locate
from ghp_agents.hotpath.quoting import byte_of as byte_of
from ghp_agents.hotpath.quoting import one_line as one_line

T = TypeVar("T")

AgentName = NewType("AgentName", str)
CloneId = NewType("CloneId", str)
IssueNumber = NewType("IssueNumber", int)
Timestamp = NewType("Timestamp", str)  # ISO 8601, UTC, with Z

UNNAMED = CloneId("unnamed")  # a clone that has no records yet
NUMBERS_END = locate.NUMBERS_END

_SLUG = re.compile(r"[^a-z0-9]+")

KNOWN_STATUSES = heartbeat.KNOWN_STATUSES


class Actor(NamedTuple):
    """Who acts: an agent by its name, or a person by git's user name."""

    name: str
    is_person: bool = False

    def __str__(self) -> str:
        return self.name


def agent_name(text: str) -> AgentName:
    """The name of an agent as somebody typed it, in lower case. Raises UsageError.

    Two agents never differ by capitals only: their files would be one file on some disks.
    """
    name = text.lower() if text.isascii() else text
    if not heartbeat.is_name(name):
        raise UsageError(
            f"{text[:80]!r} is not a valid agent name.",
            hint="Use at most 63 of a-z, 0-9, '.', '_', '-', beginning with a letter or digit: "
            "worker-1.",
        )
    return AgentName(name)


def status_name(text: str) -> str:
    """Check a status; the vocabulary is open. Raises UsageError."""
    if not heartbeat.is_status(text):
        raise UsageError(
            f"{text[:80]!r} is not a valid status.",
            hint=f"Use lower-case words and '-', such as {', '.join(KNOWN_STATUSES)}.",
        )
    return text


def short_ids(ids: Iterable[str], least: int = 4) -> dict[str, str]:
    """Each id, cut to the shortest unique prefix of at least `least` characters."""
    distinct = sorted(set(ids))
    lengths = dict.fromkeys(distinct, least)
    for previous, following in pairwise(distinct):
        pairs = zip(previous, following, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        lengths[previous] = max(lengths[previous], same + 1)
        lengths[following] = max(lengths[following], same + 1)
    return {text: text[:length] for text, length in lengths.items()}


def only_match(
    matches: Sequence[T], reference: str, noun: str, describe: Callable[[T], str], hint: str
) -> T:
    """The one match of an abbreviated id. Raises NotFoundError, or UsageError if several match."""
    if len(matches) == 1:
        return matches[0]
    shown = one_line(reference, 40) or "(nothing)"
    if matches:
        names = ", ".join(map(describe, matches[:5])) + ("…" if len(matches) > 5 else ".")
        raise UsageError(
            f"{shown!r} matches {len(matches)} {noun}s.",
            hint=f"Use more characters of the id: {names}",
        )
    raise NotFoundError(f"There is no {noun} {shown}.", hint=hint)


def first_line(text: str, limit: int = 120) -> str:
    """The first line of a text that is not blank."""
    return one_line(next((line for line in text.splitlines() if line.strip()), ""), limit)


def count(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def listed(texts: Sequence[str], most: int) -> str:
    """`a, b and 3 more`: the first texts, at most `most`."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def slug(text: str, limit: int = 35) -> str:
    """A title as part of a branch or file name."""
    return _SLUG.sub("-", text.lower()).strip("-")[:limit].strip("-")


def digest(*parts: str, length: int = 12) -> str:
    """A short id of the content; the same parts give the same id on every machine."""
    text = "\0".join(parts).encode("utf-8", "surrogateescape")
    return sha256(text).hexdigest()[:length]


AGENT_BRANCHES = ("agent/", "agents/")  # how the branches of agents begin


def issue_of_branch(branch: str) -> IssueNumber | None:
    """The issue that a branch is for, by upstream GHP's patterns."""
    number = locate.issue_of_branch(branch)
    return None if number is None else IssueNumber(number)
