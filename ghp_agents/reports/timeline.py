"""Who worked on what, and when: a lane for each agent, with spans and marks.

Times are seconds since the epoch, by the clock of the clone that reads: see `corrected`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, NamedTuple, TypeVar

from ghp_agents.core.clock import to_seconds
from ghp_agents.core.declared import HIDDEN, NULL, TIME, Name
from ghp_agents.issues.issue import PROVISIONAL
from ghp_agents.state.ledger import LedgerEntry

WORK, WAIT, IDLE, DEAD = "work", "wait", "idle", "dead"
SETTLED = "settled"  # an entry for the end of a question that needs no answer any more
QUESTION, QUEUE = "question", "queue"  # kinds of what is open
LANES = 500  # of a timeline; those with the newest activity
ITEMS = 2_000  # spans, and as many marks, of a lane; the newest


class TimelineSpan(NamedTuple):
    """A time of an agent: `work`, `wait`, `idle` or `dead`; or a `question` or `queue` that is
    open."""

    kind: str  # WORK, WAIT, IDLE or DEAD; of what is open QUESTION or QUEUE
    start: Annotated[float, TIME]
    end: Annotated[float, TIME]
    issue: int | None = None
    status: Annotated[str, NULL] = ""  # the agent's own word
    text: Annotated[str, NULL] = ""  # others' text


class TimelineMark(NamedTuple):
    """A moment of an agent. `by` is null if the agent itself acted."""

    kind: str
    at: Annotated[float, TIME]
    issue: int | None = None
    by: Annotated[str, NULL] = ""
    text: Annotated[str, NULL] = ""  # others' text


Item = TypeVar("Item", TimelineSpan, TimelineMark)


class Lane(NamedTuple):
    """An agent. `spans` follow each other; `open` overlaps them."""

    agent: str
    spans: tuple[TimelineSpan, ...]
    # Open questions, and leases that it waits for.
    opened: Annotated[tuple[TimelineSpan, ...], Name("open")] = ()
    marks: Annotated[tuple[TimelineMark, ...], Name("events")] = ()


class Timeline(NamedTuple):
    """Who worked on what, and when. `titles` are of the issues, by number."""

    since: Annotated[float, TIME]
    until: Annotated[float, TIME]
    lanes: Annotated[tuple[Lane, ...], Name("agents")]  # by name
    titles: Mapping[int, str]  # of the issues that the lanes name
    left_out: Annotated[int, Name("agentsLeftOut")] = 0  # lanes beyond LANES
    cut: Annotated[int, Name("eventsLeftOut")] = 0  # spans and marks beyond ITEMS
    unread: int = 0  # entries without a readable time or name
    # Seconds by which the clock of a clone is ahead, at most.
    ahead: Annotated[float, HIDDEN] = 0.0


def label(issue: int) -> str:
    """An issue's name in a timeline."""
    return f"#{issue}" if issue < PROVISIONAL else "new issue"


def natural(name: str) -> list[tuple[int, str]]:
    """The order in which worker-2 is before worker-10."""
    parts = re.findall(r"[0-9]{1,15}|[^0-9]+", name)
    return [(int(part), "") if part[0].isdigit() else (-1, part) for part in parts]


def corrected(
    entries: Iterable[LedgerEntry], now: float
) -> tuple[list[tuple[float, LedgerEntry]], int, float]:
    """The entries with their times, in order of time; the number of unreadable times; and by how
    many seconds a clone's clock is ahead at most.

    If the last entry of a clone is in the future, all its entries are moved back by as much. No
    entry is later than `now`. Entries of the same time keep their order.
    """
    timed: list[tuple[float, LedgerEntry]] = []
    newest: dict[str, float] = {}
    unread = 0
    for entry in entries:
        try:
            at = to_seconds(entry.at)
        except (ValueError, OverflowError):
            unread += 1
            continue
        newest[entry.clone] = at
        timed.append((at, entry))
    ahead = {clone: at - now for clone, at in newest.items() if at > now}
    moved = [(min(at - ahead.get(entry.clone, 0.0), now), entry) for at, entry in timed]
    moved.sort(key=lambda pair: pair[0])
    return moved, unread, max(ahead.values(), default=0.0)


def clipped(timeline: Timeline, lanes: Sequence[Lane]) -> Timeline:
    """The timeline with what its lanes have between `since` and `until`, bounded."""
    shown, cut = [], 0
    for lane in lanes:
        spans = [*_within(lane.spans, timeline)]
        opened = [*_within(lane.opened, timeline)]
        marks = [mark for mark in lane.marks if timeline.since <= mark.at <= timeline.until]
        if spans or opened or marks:
            cut += sum(max(0, len(items) - ITEMS) for items in (spans, opened, marks))
            kept = (tuple(spans[-ITEMS:]), tuple(opened[-ITEMS:]), tuple(marks[-ITEMS:]))
            shown.append(Lane(lane.agent, *kept))
    newest = sorted(shown, key=_last, reverse=True)[:LANES]
    named = {span.issue for lane in newest for span in (*lane.spans, *lane.opened)}
    named |= {mark.issue for lane in newest for mark in lane.marks}
    return timeline._replace(
        lanes=tuple(sorted(newest, key=lambda lane: natural(lane.agent))),
        titles={n: title for n, title in sorted(timeline.titles.items()) if n in named},
        left_out=len(shown) - len(newest),
        cut=cut,
    )


def _within(spans: Iterable[TimelineSpan], timeline: Timeline) -> Iterable[TimelineSpan]:
    for span in spans:
        start, end = max(span.start, timeline.since), min(span.end, timeline.until)
        if start < end:
            yield span._replace(start=start, end=end)


def _last(lane: Lane) -> float:
    ends = [span.end for span in (*lane.spans, *lane.opened) if span.kind not in (IDLE, DEAD)]
    return max((*ends, *(mark.at for mark in lane.marks)), default=0.0)


def of_issue(timeline: Timeline, issue: int) -> Timeline:
    """Only what is about an issue, in the lanes that have anything about it."""

    def about(items: Iterable[Item]) -> tuple[Item, ...]:
        return tuple(item for item in items if item.issue == issue)

    lanes = [Lane(x.agent, about(x.spans), about(x.opened), about(x.marks)) for x in timeline.lanes]
    return clipped(timeline, lanes)._replace(left_out=timeline.left_out, cut=timeline.cut)


def from_first(timeline: Timeline) -> Timeline:
    """The timeline from its first span or mark."""
    starts = [span.start for lane in timeline.lanes for span in (*lane.spans, *lane.opened)]
    starts += [mark.at for lane in timeline.lanes for mark in lane.marks]
    return timeline._replace(since=min(starts, default=timeline.since))
