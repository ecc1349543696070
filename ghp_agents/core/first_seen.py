"""Since when things are as they are now, as far as this clone has seen."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class FirstSeen(NamedTuple):
    """A revision, and when this clone first saw it, by its steady clock."""

    revision: str
    since: float


def first_seen(
    before: Mapping[str, FirstSeen], revisions: Mapping[str, str], now: float
) -> dict[str, FirstSeen]:
    """When each thing was first seen at its present revision.

    A restart of the machine resets the steady clock. Then a thing counts as first seen now.
    """
    noted = {name: FirstSeen(revision, now) for name, revision in revisions.items()}
    for name in noted.keys() & before.keys():
        if before[name].revision == noted[name].revision and before[name].since <= now:
            noted[name] = before[name]
    return noted


def decode(value: Any) -> dict[str, FirstSeen]:
    """The content of a cache file. Raises what Python raises for a wrong type."""
    return {str(name): FirstSeen(str(rev), float(since)) for name, (rev, since) in value.items()}
