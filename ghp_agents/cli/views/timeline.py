"""A timeline as bars on a terminal, one line for each agent, and as JSON."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

from ghp_agents.core.clock import ago, to_text
from ghp_agents.core.ids import count
from ghp_agents.hotpath.quoting import one_line, phrase
from ghp_agents.reports import timeline as parts
from ghp_agents.reports.time_axis import between, ticks
from ghp_agents.reports.timeline import Lane, Timeline, TimelineMark, TimelineSpan, label

if TYPE_CHECKING:
    from ghp_agents.cli.outputs.timeline import TimelineJson, TimelineMarkJson, TimelineSpanJson

Piece = tuple[str, str]  # text, and the number of its colour or nothing
NARROWEST, WIDEST = 40, 200  # columns
NAME_SHOWN = 20  # characters
LANES_SHOWN = 100
TITLES_SHOWN = 10
TICK_ROOM = 11  # columns for a tick and its text
ANSWER_DUE = "answer due"


class Sign(NamedTuple):
    """How a kind is drawn, and what it means."""

    char: str
    colour: str
    meaning: str


SPANS: Mapping[str, Sign] = {
    parts.WORK: Sign("━", "32", "works"),
    ANSWER_DUE: Sign("╍", "36", "waits for an answer"),
    parts.WAIT: Sign("╌", "33", "waits"),
    parts.IDLE: Sign("·", "2", "idle"),
    parts.DEAD: Sign("░", "31", "dead"),
}
MARKS: Mapping[str, Sign] = {
    parts.CLAIM: Sign("▸", "32", "claims"),
    parts.RELEASE: Sign("◂", "2", "releases"),
    parts.ASK: Sign("?", "36", "asks"),
    parts.ANSWER: Sign("!", "36", "is answered"),
    parts.HANDOFF: Sign("»", "35", "hands over"),
    parts.PULL: Sign("↑", "34", "opens a pull request"),
    parts.MERGE: Sign("✓", "1;32", "is merged"),
    parts.RETURN: Sign("↓", "33", "is sent back"),
    parts.STOP: Sign("■", "33", "is told to stop"),
    parts.DEATH: Sign("✗", "1;31", "dies"),
}


def lines(timeline: Timeline, columns: int, zone: tzinfo | None = None) -> Iterator[list[Piece]]:
    """The page for a terminal of so many columns; nothing without lanes."""
    if not timeline.lanes:
        return
    width = max(NARROWEST, min(columns, WIDEST))
    shown = timeline.lanes[:LANES_SHOWN]
    names = min(NAME_SHOWN, max(len(lane.agent) for lane in shown))
    room = width - names - 2
    yield from _wrapped([("", part) for part in _summary(timeline, zone)], width, " · ", "1")
    yield [(" " * (names + 2), ""), (_axis(timeline, room, zone), "2")]
    used: set[str] = set()
    hidden = 0
    for lane in shown:
        cells, over = _cells(lane, timeline, room, used)
        hidden += over
        yield [(f"{one_line(lane.agent, names):{names}}  ", ""), *_joined(cells)]
    yield [("", "")]
    signs = [sign for kinds in (SPANS, MARKS) for kind, sign in kinds.items() if kind in used]
    yield from _wrapped([(sign.colour, f"{sign.char} {sign.meaning}") for sign in signs], width)
    for text in _left_out(timeline, len(shown), hidden):
        yield from ([(line, "2")] for line in wrap(text, width))
    yield from _titles(timeline, width)


def _summary(timeline: Timeline, zone: tzinfo | None) -> Iterator[str]:
    yield between(timeline.since, timeline.until, zone)
    yield count(len(timeline.lanes) + timeline.left_out, "agent")
    marks = Counter(mark.kind for lane in timeline.lanes for mark in lane.marks)
    due = sum(
        span.kind == parts.QUESTION and span.end >= timeline.until
        for lane in timeline.lanes
        for span in lane.opened
    )
    counted = ((marks[parts.MERGE], "merged"), (marks[parts.DEATH], "died"))
    yield from (f"{number} {word}" for number, word in counted if number)
    if due:
        yield f"{count(due, 'question')} open"


def _axis(timeline: Timeline, room: int, zone: tzinfo | None) -> str:
    line = ""
    for tick in ticks(timeline.since, timeline.until, room // TICK_ROOM, zone):
        column = _column(tick.at, timeline, room)
        if column >= len(line) and column + len(tick.text) < room:
            line = f"{line:{column}}╷{tick.text}"
    return line


def _column(at: float, timeline: Timeline, room: int) -> int:
    share = (at - timeline.since) / max(1e-9, timeline.until - timeline.since)
    return max(0, min(room - 1, int(share * room)))


def _cells(lane: Lane, timeline: Timeline, room: int, used: set[str]) -> tuple[list[Piece], int]:
    """A lane's line, and how many marks have no place of their own. Adds what it draws to
    `used`."""
    kinds = _dominant(lane.spans, timeline, room)
    for span in lane.opened:
        if span.kind == parts.QUESTION:
            for at in range(_column(span.start, timeline, room), _last(span, timeline, room) + 1):
                if kinds[at][0] == parts.WAIT:
                    kinds[at] = (ANSWER_DUE, kinds[at][1])
    cells = [(SPANS[kind].char, SPANS[kind].colour) if kind else (" ", "") for kind, _ in kinds]
    marked: dict[int, TimelineMark] = {}
    for mark in lane.marks:
        column = _column(mark.at, timeline, room)
        other = marked.get(column)
        if other is None or parts.MARKS.index(mark.kind) < parts.MARKS.index(other.kind):
            marked[column] = mark
    for column, mark in marked.items():
        cells[column] = (MARKS[mark.kind].char, MARKS[mark.kind].colour)
    used.update(mark.kind for mark in marked.values())
    used.update(kind for at, (kind, _) in enumerate(kinds) if kind and at not in marked)
    _write_labels(cells, [issue for _, issue in kinds], marked)
    return cells, len(lane.marks) - len(marked)


def _last(span: TimelineSpan, timeline: Timeline, room: int) -> int:
    """The last column of a span; its end belongs to the next one."""
    width = (timeline.until - timeline.since) / room
    return max(_column(span.start, timeline, room), _column(span.end - width / 2, timeline, room))


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
    return [_most(each) for each in shares]


def _most(shares: Mapping[tuple[str, int | None], float]) -> tuple[str, int | None]:
    if not shares:
        return "", None
    return max(shares, key=lambda key: (shares[key], key[0] == parts.WORK))


def _write_labels(
    cells: list[Piece], issues: Sequence[int | None], marked: Mapping[int, TimelineMark]
) -> None:
    """The number of an issue, where its time begins and there is room beside the marks."""
    start = 0
    for at in range(len(issues) + 1):
        if at < len(issues) and issues[at] == issues[start]:
            continue
        number = issues[start]
        text = label(number) if number is not None else ""
        for first in range(start, at - len(text)) if text else ():
            places = range(first, first + len(text))
            if marked.keys().isdisjoint(places):
                for place, char in zip(places, text, strict=True):
                    cells[place] = (char, "1")
                break
        start = at


def _joined(cells: Sequence[Piece]) -> Iterator[Piece]:
    """Cells of one colour as one piece, without spaces at the end."""
    end = max((at for at, (char, _) in enumerate(cells, 1) if char != " "), default=0)
    text, colour = "", ""
    for char, own in cells[:end]:
        if own != colour and text:
            yield text, colour
            text = ""
        text, colour = text + char, own
    yield text, colour


def _wrapped(
    items: Iterable[tuple[str, str]], width: int, between: str = "   ", style: str = ""
) -> Iterator[list[Piece]]:
    """Items beside each other on as many lines as they need. The first character has a colour."""
    line: list[Piece] = []
    used = 0
    for colour, text in items:
        if line and used + len(between) + len(text) > width:
            yield line
            line, used = [], 0
        gap = between if line else ""
        line += [(gap, style), (text[:1], colour or style), (text[1:], style)]
        used += len(gap) + len(text)
    if line:
        yield line


def _left_out(timeline: Timeline, shown: int, hidden: int) -> Iterator[str]:
    lanes = len(timeline.lanes) + timeline.left_out - shown
    if lanes:
        yield f"… {count(lanes, 'more agent')}"
    if hidden:
        yield f"… {count(hidden, 'more event')} at the same place: --json lists each."
    if timeline.cut:
        yield f"… {count(timeline.cut, 'older event')} left out: use a later --since."
    if timeline.unread:
        yield f"… {count(timeline.unread, 'event')} without a readable time or name."
    if timeline.ahead >= 1:
        yield f"The clock of a clone is ahead by {ago(timeline.ahead)}: its times are corrected."


def _titles(timeline: Timeline, width: int) -> Iterator[list[Piece]]:
    numbers = [*timeline.titles][-TITLES_SHOWN:]
    if numbers:
        yield [("", "")]
    rest = len(timeline.titles) - len(numbers)
    if rest > 0:
        yield [(f"… {count(rest, 'earlier issue')}", "2")]
    room = max((len(label(number)) for number in numbers), default=0)
    for number in numbers:
        title = phrase(timeline.titles[number], width - room - 4)
        yield [(f"{label(number):{room}}", "1"), (f"  {title}", "")]


def fields(timeline: Timeline) -> "TimelineJson":
    """The timeline as JSON."""
    return {
        "since": to_text(timeline.since),
        "until": to_text(timeline.until),
        "agents": [
            {
                "agent": lane.agent,
                "spans": [_span(span) for span in lane.spans],
                "open": [_span(span) for span in lane.opened],
                "events": [_mark(mark) for mark in lane.marks],
            }
            for lane in timeline.lanes
        ],
        "titles": {str(number): title for number, title in timeline.titles.items()},
        "agentsLeftOut": timeline.left_out,
        "eventsLeftOut": timeline.cut,
        "unread": timeline.unread,
    }


def _span(span: TimelineSpan) -> "TimelineSpanJson":
    return {
        "kind": span.kind, "start": to_text(span.start), "end": to_text(span.end),
        "issue": span.issue, "status": span.status or None, "text": span.text or None,
    }  # fmt: skip


def _mark(mark: TimelineMark) -> "TimelineMarkJson":
    return {
        "kind": mark.kind, "at": to_text(mark.at), "issue": mark.issue,
        "by": mark.by or None, "text": mark.text or None,
    }  # fmt: skip
