"""Comments that GitHub counts and does not list yet: which issues to read again.

Each issue's number of comments is compared with the comments that were listed since the number was
last met. Pure.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from ghp_agents.core.clock import to_seconds, to_text

LONGEST = 3_600.0  # seconds to wait for a comment; it may have been deleted before it was listed
MARGIN = 60.0  # seconds by which a comment may be older than its issue's last change


class Counted(NamedTuple):
    """An issue's comments as far as they were listed."""

    listed: int = 0
    newest: int = 0  # the highest id
    missing_since: float | None = None  # seconds; when the count was first not met


Counts = Mapping[int, Counted]  # by issue number


def settled(
    previous: Counts | None,
    counts: Mapping[int, int],
    comments: Iterable[tuple[int, int]],
    now: float,
) -> dict[int, Counted]:
    """The counts after a look at GitHub. `counts` are GitHub's, `comments` are pairs of issue and
    comment id.

    Without `previous` (at the first look), all counts are taken as met.
    """
    ids: dict[int, set[int]] = {}
    for issue, comment in comments:
        ids.setdefault(issue, set()).add(comment)
    new_counts: dict[int, Counted] = {}
    for issue, count in counts.items():
        before = (previous or {}).get(issue, Counted())
        new = {comment for comment in ids.get(issue, ()) if comment > before.newest}
        newest = max(new, default=before.newest)
        since = now if before.missing_since is None else before.missing_since
        is_met = previous is None or count <= before.listed + len(new)
        if not is_met and 0 <= now - since < LONGEST:
            new_counts[issue] = before._replace(missing_since=since)
            continue
        listed = before.listed + len(new) if previous is not None and new else count
        if listed or newest:
            new_counts[issue] = Counted(max(listed, count), newest)
    return new_counts


def missing(counts: Counts) -> set[int]:
    """The issues with comments that were not listed yet."""
    return {issue for issue, counted in counts.items() if counted.missing_since is not None}


def read_from(since: str, changed_at: Collection[str]) -> str:
    """Where to read again: before the changes of the issues with missing comments."""
    times = [since]
    for at in changed_at:
        try:
            times.append(to_text(max(0.0, to_seconds(at) - MARGIN)))
        except ValueError:
            continue
    return min(times)


def to_json(counts: Counts) -> dict[str, list[float | None]]:
    """The stored form."""
    return {str(issue): [*counted] for issue, counted in sorted(counts.items())}


def from_json(data: Any) -> dict[int, Counted] | None:
    """Parse the stored form; None if there is none or it is invalid."""
    try:
        return {
            int(issue): Counted(int(count), int(newest), None if at is None else float(at))
            for issue, (count, newest, at) in data.items()
        }
    except (AttributeError, TypeError, ValueError):
        return None
