"""A lane in as many columns as there is room for: what fills each, and which mark is there."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from itertools import groupby
from typing import NamedTuple

from ghp_agents.core.ids import count
from ghp_agents.reports import timeline as parts
from ghp_agents.reports.time_axis import between
from ghp_agents.reports.timeline import Lane, Timeline, TimelineMark, TimelineSpan
from ghp_agents.state import events

ANSWER_DUE = "due"  # it waits, and a question of it is open


class TimelineSign(NamedTuple):
    """How a kind is drawn, and what it means."""

    char: str  # where there are no pictures
    meaning: str
    colour: str  # on a terminal; green and red only for what ended well or badly
    tone: str | None = None  # of a mark in a picture, by the names in the style sheet


SIGNS: Mapping[str, TimelineSign] = {
    parts.WORK: TimelineSign("━", "works", "32"),
    ANSWER_DUE: TimelineSign("╍", "waits for an answer", "36"),
    parts.WAIT: TimelineSign("╌", "waits", "33"),
    parts.IDLE: TimelineSign("·", "idle", "2"),
    parts.DEAD: TimelineSign("░", "dead", "31"),
    events.CLAIM: TimelineSign("▸", "claims", "32", "plain"),
    events.RELEASE: TimelineSign("◂", "releases", "2", "dim"),
    events.ASK: TimelineSign("?", "asks", "36", "ask"),
    events.ANSWER: TimelineSign("!", "is answered", "36", "ask"),
    events.HANDOFF: TimelineSign("»", "hands over", "35", "move"),
    events.PULL: TimelineSign("↑", "opens a pull request", "34", "plain"),
    events.MERGE: TimelineSign("✓", "is merged", "1;32", "good"),
    events.RETURN: TimelineSign("↓", "is sent back", "33", "ask"),
    events.STOP: TimelineSign("■", "is told to stop", "33", "bad"),
    events.DEATH: TimelineSign("✗", "dies", "1;31", "bad"),
    events.MESSAGE: TimelineSign("@", "sends a message", "2", "move"),
}


def summary(timeline: Timeline, zone: tzinfo | None) -> Iterator[str]:
    """Its time, and how many agents, merges, deaths and open questions it has."""
    yield between(timeline.since, timeline.until, zone)
    yield count(len(timeline.lanes) + timeline.left_out, "agent")
    marks = Counter(mark.kind for lane in timeline.lanes for mark in lane.marks)
    due = sum(
        span.kind == parts.QUESTION and span.end >= timeline.until
        for lane in timeline.lanes
        for span in lane.opened
    )
    counted = ((marks[events.MERGE], "merged"), (marks[events.DEATH], "died"))
    yield from (f"{number} {word}" for number, word in counted if number)
    if due:
        yield f"{count(due, 'question')} open"


class Cells(NamedTuple):
    """A lane. In each column the kind that fills most of it (empty: none) and its issue."""

    kinds: list[str]
    issues: list[int | None]
    marks: dict[int, TimelineMark]  # by column, the most important one


def column(at: float, timeline: Timeline, room: int) -> int:
    """The column of a time."""
    share = (at - timeline.since) / max(1e-9, timeline.until - timeline.since)
    return max(0, min(room - 1, int(share * room)))


def cells(lane: Lane, timeline: Timeline, room: int, width: int = 1) -> Cells:
    """A lane in `room` columns; a mark takes `width` of them."""
    filled = _dominant(lane.spans, timeline, room)
    kinds = [kind for kind, _ in filled]
    for span in lane.opened:
        if span.kind == parts.QUESTION:
            for at in range(column(span.start, timeline, room), _last(span, timeline, room) + 1):
                kinds[at] = ANSWER_DUE if kinds[at] == parts.WAIT else kinds[at]
    marks: dict[int, TimelineMark] = {}
    for mark in lane.marks:
        place = column(mark.at, timeline, room) // width * width
        other = marks.get(place)
        if other is None or events.MARKS.index(mark.kind) < events.MARKS.index(other.kind):
            marks[place] = mark
    return Cells(kinds, [issue for _, issue in filled], marks)


def _last(span: TimelineSpan, timeline: Timeline, room: int) -> int:
    """The last column of a span; its end belongs to the next one."""
    width = (timeline.until - timeline.since) / room
    return max(column(span.start, timeline, room), column(span.end - width / 2, timeline, room))


def _dominant(
    spans: Sequence[TimelineSpan], timeline: Timeline, room: int
) -> list[tuple[str, int | None]]:
    """For each column the kind that fills most of it, and its issue; work first if equal."""
    width = max(1e-9, (timeline.until - timeline.since) / room)
    shares: list[dict[tuple[str, int | None], float]] = [{} for _ in range(room)]
    for span in spans:
        start, end = (at - timeline.since for at in (span.start, span.end))
        for at in range(int(start / width), min(room, int(end / width) + 1)):
            share = min(end, (at + 1) * width) - max(start, at * width)
            key = (span.kind, span.issue)
            if share > 0:
                shares[at][key] = shares[at].get(key, 0.0) + share
    return [_most(share) for share in shares]


def _most(shares: Mapping[tuple[str, int | None], float]) -> tuple[str, int | None]:
    if not shares:
        return "", None
    return max(shares, key=lambda key: (shares[key], key[0] == parts.WORK))


def runs(filled: Cells) -> list[tuple[int, int, str, int | None]]:
    """Columns of the same kind and issue: the first, the one after the last, the kind, the
    issue."""
    pairs = [*zip(filled.kinds, filled.issues, strict=True)]
    grouped = ((pair, [*same]) for pair, same in groupby(range(len(pairs)), pairs.__getitem__))
    return [(same[0], same[-1] + 1, kind, issue) for (kind, issue), same in grouped if kind]
