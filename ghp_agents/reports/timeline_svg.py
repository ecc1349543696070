"""A timeline as a picture: one SVG file, in light and dark, without scripts and without network."""

from collections.abc import Iterator
from datetime import tzinfo
from html import escape
from importlib import resources

from ghp_agents.core.ids import count, one_line
from ghp_agents.hotpath.quoting import byte_of
from ghp_agents.reports import timeline as parts
from ghp_agents.reports.time_axis import briefly, ticks
from ghp_agents.reports.timeline import Lane, Timeline, label
from ghp_agents.reports.timeline_cells import SIGNS, cells, column, runs, summary

LANES_SHOWN = 200
WIDTH, NAMES, TOP, LANE = 1200, 150, 58, 24  # pixels
ROOM = WIDTH - NAMES - 12
BAR, BAR_TOP = 12, 9  # pixels: its height, and its place in the lane
MARK = 9  # pixels that a mark takes
LEGEND_ROW, LEGEND_WIDTH = 20, 170
TITLES_SHOWN = 40
TICKS = 12
LETTER = 6.5  # pixels of a letter in a bar
POINTED = 4  # pixels that one can point at
WORKS = 6  # colours of issues


def style() -> str:
    """The style sheet inside of the picture."""
    return read("timeline_svg.css")


def read(name: str) -> str:
    """A file beside this module."""
    return resources.files("ghp_agents.reports").joinpath(name).read_text(encoding="utf-8")


def render(timeline: Timeline, zone: tzinfo | None = None) -> str:
    """The picture; times are in the zone, by default the machine's."""
    shown = timeline.lanes[:LANES_SHOWN]
    legend = _legend()
    titles = [*timeline.titles.items()][-TITLES_SHOWN:]
    foot = TOP + LANE * len(shown) + 8
    height = foot + LEGEND_ROW * (legend.count("<g") // 6 + 2) + 17 * ((len(titles) + 2) // 3) + 24
    text = " · ".join(summary(timeline, zone))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="timeline" viewBox="0 0 {WIDTH} {height}"'
        f' role="img" aria-label="{safe(text)}">',
        f"<style>{style()}</style>",
        f'<rect class="back" width="{WIDTH}" height="{height}"/>',
        f'<text class="head" x="12" y="24">{safe(text)}</text>',
        *_stripes(len(shown)),
        *_axis(timeline, len(shown), zone),
    ]
    for number, lane in enumerate(shown):
        lines += _lane(lane, timeline, TOP + LANE * number, zone)
    lines.append(f'<g transform="translate(12 {foot})">{legend}</g>')
    lines += _titles(timeline, titles, height - 17 * ((len(titles) + 2) // 3) - 8)
    lines += _left_out(timeline, len(shown), height)
    return "\n".join([*lines, "</svg>", ""])


def safe(text: str) -> str:
    """Others' text in XML, without characters that XML cannot have."""
    return escape("".join(c if c.isprintable() else byte_of(c) or " " for c in text))


def _stripes(lanes: int) -> Iterator[str]:
    for number in range(0, lanes, 2):
        place = f'y="{TOP + LANE * number}" width="{WIDTH}" height="{LANE}"'
        yield f'<rect class="stripe" {place}/>'


def _axis(timeline: Timeline, lanes: int, zone: tzinfo | None) -> Iterator[str]:
    for tick in ticks(timeline.since, timeline.until, TICKS, zone):
        x = NAMES + column(tick.at, timeline, ROOM)
        yield f'<path class="grid" d="M{x} {TOP - 6}V{TOP + LANE * lanes}"/>'
        if x < WIDTH - 40:
            yield f'<text class="dim" x="{x + 3}" y="{TOP - 8}">{tick.text}</text>'


def _lane(lane: Lane, timeline: Timeline, top: int, zone: tzinfo | None) -> Iterator[str]:
    yield f'<text x="12" y="{top + 18}">{safe(one_line(lane.agent, 20))}</text>'
    filled = cells(lane, timeline, ROOM, MARK)
    for first, end, kind, issue in runs(filled):
        yield _bar(lane, timeline, (first, end, kind, issue), top, zone)
        text = label(issue) if issue is not None else ""
        if text and end - first > len(text) * LETTER + 6 and kind != parts.IDLE:
            yield f'<text class="in" x="{NAMES + first + 3}" y="{top + 19}">{text}</text>'
    for at, mark in sorted(filled.marks.items()):
        x, sign = NAMES + at + MARK // 2, SIGNS[mark.kind]
        yield f'<text class="mark {sign.tone}" x="{x}" y="{top + 10}">{sign.char}</text>'


def _bar(
    lane: Lane,
    timeline: Timeline,
    run: tuple[int, int, str, int | None],
    top: int,
    zone: tzinfo | None,
) -> str:
    first, end, kind, issue = run
    height = 2 if kind == parts.IDLE else BAR
    y = top + BAR_TOP + (BAR - height) // 2
    colour = f"work{(issue or 0) % WORKS}" if kind == parts.WORK else kind
    rect = (
        f'<rect class="{colour}" x="{NAMES + first}" y="{y}" width="{end - first}" '
        f'height="{height}"'
    )
    if end - first < POINTED:
        return f"{rect}/>"
    width = (timeline.until - timeline.since) / ROOM
    when = briefly(timeline.since + first * width, timeline.since + end * width, zone)
    what = f"{SIGNS[kind].meaning}{f' on {label(issue)}' if issue is not None else ''}"
    return f"{rect}><title>{safe(lane.agent)} {what}: {when}</title></rect>"


def _legend() -> str:
    drawn = []
    for number, (kind, (char, meaning, _, tone)) in enumerate(SIGNS.items()):
        x, y = number % 6 * LEGEND_WIDTH, 16 + number // 6 * LEGEND_ROW
        if tone:
            sign = f'<text class="mark {tone}" x="7" y="9">{char}</text>'
        else:
            colour, height = (
                ("work0" if kind == parts.WORK else kind),
                2 if kind == parts.IDLE else 9,
            )
            sign = f'<rect class="{colour}" y="{(10 - height) // 2}" width="14" height="{height}"/>'
        drawn.append(
            f'<g transform="translate({x} {y})">{sign}'
            f'<text class="dim" x="20" y="9">{meaning}</text></g>'
        )
    return "".join(drawn)


def _titles(timeline: Timeline, titles: list[tuple[int, str]], top: int) -> Iterator[str]:
    for place, (number, title) in enumerate(titles):
        x, y = 12 + place % 3 * 395, top + place // 3 * 17
        text = safe(f"{label(number)} {one_line(title, 55)}")
        yield f'<text class="dim" x="{x}" y="{y}">{text}</text>'


def _left_out(timeline: Timeline, shown: int, height: int) -> Iterator[str]:
    lanes = len(timeline.lanes) + timeline.left_out - shown
    if lanes:
        yield f'<text class="dim" x="12" y="{height - 6}">… {count(lanes, "more agent")}</text>'
