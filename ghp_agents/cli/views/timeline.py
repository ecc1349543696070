"""A timeline as bars on a terminal, one line for each agent, and as JSON."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING

from ghp_agents.core.clock import ago
from ghp_agents.core.ids import count
from ghp_agents.hotpath.quoting import one_line, phrase
from ghp_agents.reports.time_axis import ticks
from ghp_agents.reports.timeline import Lane, Timeline, TimelineMark, label
from ghp_agents.reports.timeline_cells import SIGNS, cells, column, summary

if TYPE_CHECKING:
    pass

Piece = tuple[str, str]  # text, and the number of its colour or nothing
NARROWEST, WIDEST = 40, 200  # columns
NAME_SHOWN = 20  # characters
LANES_SHOWN = 100
TITLES_SHOWN = 10
TICK_ROOM = 11  # columns for a tick and its text


def lines(timeline: Timeline, columns: int, zone: tzinfo | None = None) -> Iterator[list[Piece]]:
    """The page for a terminal of so many columns; nothing without lanes."""
    if not timeline.lanes:
        return
    width = max(NARROWEST, min(columns, WIDEST))
    shown = timeline.lanes[:LANES_SHOWN]
    names = min(NAME_SHOWN, max(len(lane.agent) for lane in shown))
    room = width - names - 2
    yield from _wrapped([("", part) for part in summary(timeline, zone)], width, " · ", "1")
    yield [(" " * (names + 2), ""), (_axis(timeline, room, zone), "2")]
    used: set[str] = set()
    hidden = 0
    for lane in shown:
        drawn, over = _drawn(lane, timeline, room, used)
        hidden += over
        yield [(f"{one_line(lane.agent, names):{names}}  ", ""), *_joined(drawn)]
    yield [("", "")]
    legend = [
        (sign.colour, f"{sign.char} {sign.meaning}") for kind, sign in SIGNS.items() if kind in used
    ]
    yield from _wrapped(legend, width)
    for text in _left_out(timeline, len(shown), hidden):
        yield from ([(line, "2")] for line in wrap(text, width))
    yield from _titles(timeline, width)


def _axis(timeline: Timeline, room: int, zone: tzinfo | None) -> str:
    line = ""
    for tick in ticks(timeline.since, timeline.until, room // TICK_ROOM, zone):
        at = column(tick.at, timeline, room)
        if at >= len(line) and at + len(tick.text) < room:
            line = f"{line:{at}}╷{tick.text}"
    return line


def _drawn(lane: Lane, timeline: Timeline, room: int, used: set[str]) -> tuple[list[Piece], int]:
    """A lane's line, and how many marks have no place of their own. Adds what it draws to
    `used`."""
    kinds, issues, marks = cells(lane, timeline, room)
    for at, mark in marks.items():
        kinds[at] = mark.kind
    used.update(kinds)
    drawn = [(SIGNS[kind].char, SIGNS[kind].colour) if kind else (" ", "") for kind in kinds]
    _write_labels(drawn, issues, marks)
    return drawn, len(lane.marks) - len(marks)


def _write_labels(
    cells: list[Piece], issues: Sequence[int | None], marked: Mapping[int, TimelineMark]
) -> None:
    """The number of an issue, where its time begins and there is room beside the marks."""
    for number, columns in groupby(range(len(issues)), issues.__getitem__):
        text = label(number) if number is not None else ""
        for first in [*columns][: -len(text)] if text else ():
            places = range(first, first + len(text))
            if marked.keys().isdisjoint(places):
                for place, char in zip(places, text, strict=True):
                    cells[place] = (char, "1")
                break


def _joined(cells: Sequence[Piece]) -> Iterator[Piece]:
    """Cells of one colour as one piece, without spaces at the end."""
    end = max((at for at, (char, _) in enumerate(cells, 1) if char != " "), default=0)
    for colour, same in groupby(cells[:end], lambda cell: cell[1]):
        yield "".join(char for char, _ in same), colour


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
        yield f"… {count(hidden, 'more event')} at the same place: --html FILE shows each."
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
