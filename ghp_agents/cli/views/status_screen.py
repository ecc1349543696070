"""The overview on a terminal: one line per agent, those that need a person first.

A line is a tuple of spans, each a text and a style of rich; all lines fit the width.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ghp_agents.cli.printing.tables import cells, fitted
from ghp_agents.core.clock import brief
from ghp_agents.core.ids import count
from ghp_agents.hotpath.quoting import seen_line
from ghp_agents.presence.liveness import NO_CLIENT, Liveness
from ghp_agents.reports.overview import AgentGroup, AgentRow, NeedKind, Overview

Span = tuple[str, str]  # a text and its style
Line = tuple[Span, ...]
WAITS_FOR = "Waits for #"  # begins the action of an agent that claimed a blocked issue

HEADINGS = {
    AgentGroup.NEEDS_YOU: "NEEDS YOU",
    AgentGroup.WORKING: "WORKING",
    AgentGroup.IDLE: "IDLE",
}
MARKS = {NeedKind.QUESTION: ("?", "cyan"), NeedKind.DEAD: ("✗", "red")}
ATTENTION = ("!", "yellow")
WORDS = {
    NeedKind.QUESTION: "asks",
    NeedKind.PERMISSION: "permission",
    NeedKind.CONFLICT: "conflict",
    NeedKind.CHECKS: "check failed",
    NeedKind.CHANGES: "changes requested",
    NeedKind.DEAD: "dead",
    NeedKind.UNFINISHED: "not finished",
    NeedKind.ENDED: NO_CLIENT,
    NeedKind.LEFT: "left work",
    NeedKind.PULL: "ready to merge",
    NeedKind.MESSAGE: "request overdue",
    NeedKind.BUDGET: "budget used up",
    NeedKind.INPUT: "turn ended",
}
LONGEST = 300  # characters of others' text that are looked at
DOT = " · "
GAP = 2  # cells between columns
MARK = 2  # cells before the first column


class Column(NamedTuple):
    """A column: its width is between the widest cell's and `least`, and never above `most`."""

    name: str
    cell: Callable[[AgentRow], str]
    most: int
    least: int
    style: str = ""
    right: bool = False


def screen(
    overview: Overview, width: int, height: int | None = None, *, loading: bool = False
) -> list[Line]:
    """The overview in at most `height` lines of `width` cells; `loading`: newer facts may come."""
    grid = Grid(overview.agents, width)
    hidden = grid.hidden
    head = summary(overview, width, loading=loading)
    room = None
    if height is not None:
        head = head[: max(1, height - 4)]
        # Below the summary, above the prompt, and without the last line if columns are hidden.
        room = max(2, height - 1 - len(head) - bool(hidden))
    body, left = _body(overview, room, hidden, grid.line)
    rest = _rest(left, hidden, width - 2)
    return [*head, *body, *([((f"  {rest}", "dim"),)] if rest else [])]


def _rest(left: int, hidden: Sequence[str], width: int) -> str:
    """How many agents are not shown, and which columns; if there is no room, how many."""
    names = f"hidden: {', '.join(hidden)}"
    number = f"{count(len(hidden), 'column')} hidden"
    for columns in (names, number, f"{len(hidden)} hidden"):
        parts = [f"… {left} more (--all)"] if left else []
        parts += [f"{columns} (--plain)"] if hidden else []
        text = DOT.join(parts)
        if cells(text) <= width:
            break
    return fitted(text, width)


class Grid:
    """The columns that fit a width, and the line of each agent under them."""

    def __init__(self, rows: Sequence[AgentRow], width: int) -> None:
        self._columns, self.hidden = _chosen(rows, width)
        self._widths = _widths(self._columns, rows, width)

    def line(self, row: AgentRow) -> Line:
        """An agent's line; its last column is not padded."""
        mark, style = _mark(row)
        spans: list[Span] = [(f"{mark} ", style)]
        for column, width in zip(self._columns, self._widths, strict=True):
            text = fitted(column.cell(row), width, middle=column.name == "agent")
            space = " " * (width - cells(text))
            last = column is self._columns[-1]
            padded = space + text if column.right else text + ("" if last else space)
            spans.append((padded + ("" if last else " " * GAP), _style(row, column, style)))
        return tuple(spans)


def _body(
    overview: Overview, room: int | None, hidden: Sequence[str], line: Callable[[AgentRow], Line]
) -> tuple[list[Line], int]:
    """The groups with their headings, and the number of agents for which there is no room."""
    groups = [
        (heading, [row for row in overview.agents if row.group is group])
        for group, heading in HEADINGS.items()
    ]
    groups = [(heading, rows) for heading, rows in groups if rows]
    whole = sum(len(rows) + 1 for _, rows in groups)
    if room is None or whole <= room:
        room = whole
    elif not hidden:
        room -= 1  # for the line that counts the others
    lines: list[Line] = []
    shown = 0
    for heading, rows in groups:
        some = rows[: max(0, room - len(lines) - 1)]
        if some:
            lines += [((heading, "bold dim"),), *map(line, some)]
            shown += len(some)
    return lines, len(overview.agents) - shown


def summary(overview: Overview, width: int, *, loading: bool = False) -> list[Line]:
    """The totals on the left, and the age of the news on the right; if there is no room for both,
    on more lines."""
    totals = overview.totals
    parts: list[Span] = [(count(totals.agents, "agent"), "bold")]
    parts += [
        (f"{number} {word}", style)
        for number, word, style in (
            (totals.needs_you, "need you" if totals.needs_you != 1 else "needs you", "yellow"),
            (totals.working, "working", ""),
            (totals.stale, "stale", "yellow"),
            (totals.dead, "dead", "red"),
        )
        if number
    ]
    if totals.budget:
        parts.append(("budget used up", "yellow"))
    if totals.pauses:
        parts.append(("an account waits", "yellow"))
    *lines, last = _beside(parts, width)
    right = fitted(_news(overview, loading=loading), width)
    left = width - sum(cells(text) for text, _ in last)
    if not right:
        return [*lines, last]
    if left >= GAP + cells(right):
        return [*lines, (*last, (right.rjust(left), "dim"))]
    return [*lines, last, ((right.rjust(width), "dim"),)]


def _beside(parts: Sequence[Span], width: int) -> list[Line]:
    """Parts with dots between them, on as many lines as they need."""
    lines: list[list[Span]] = []
    left = 0
    for text, style in parts:
        if left >= len(DOT) + cells(text):
            lines[-1].append((DOT, "dim"))
            left -= len(DOT)
        else:
            lines.append([])
            left = width
        lines[-1].append((fitted(text, left), style))
        left -= cells(text)
    return [tuple(line) for line in lines]


def _news(overview: Overview, *, loading: bool) -> str:
    totals = overview.totals
    clones = f"{totals.clones} clones" if totals.clones > 1 else ""
    age = "asking for news …" if loading else ""
    if not loading and totals.news_age is not None:
        age = f"news {brief(totals.news_age)} ago"
    return DOT.join(filter(None, (age, clones)))


def _mark(row: AgentRow) -> Span:
    if row.needs:
        return MARKS.get(row.needs[0].kind, ATTENTION)
    return ("~", "yellow") if row.liveness is Liveness.STALE else (" ", "")


def _style(row: AgentRow, column: Column, mark: str) -> str:
    if row.group is AgentGroup.IDLE:
        return "dim"
    return mark if column.name == "state" and mark else column.style


def _state(row: AgentRow) -> str:
    """Why it needs a person; else its liveness if that is not active; else its status."""
    if row.needs:
        need = row.needs[0]
        words = WORDS[need.kind]
        return f"{words} ({need.urgency})" if need.urgency not in ("", "normal") else words
    if row.liveness is Liveness.ACTIVE and not row.has_no_client:
        return seen_line(row.shown_status, LONGEST)
    return row.state


def _age(row: AgentRow) -> str:
    """How long it has needed a person; else how long ago it was heard of."""
    age = row.needs[0].age if row.needs and row.needs[0].age is not None else row.last_seen
    return "" if age is None else brief(age)


def _about(row: AgentRow) -> str:
    """What to name in a command: its question, else its pull request."""
    if row.needs and row.needs[0].short:
        return row.needs[0].short
    return f"#{row.pull}" if row.pull else ""


def _detail(row: AgentRow) -> str:
    if row.needs and (row.needs[0].command or row.needs[0].text):
        command, text = row.needs[0].command, seen_line(row.needs[0].text, LONGEST)
        return f"{command} ({text})" if command and text else command or text
    if row.waits_for:
        agent, what = row.waits_for[0]
        more = f" and {len(row.waits_for) - 1} more" if len(row.waits_for) > 1 else ""
        return seen_line(f"waits for {agent}, which has {what}{more}", LONGEST)
    if row.unblocked_by and row.action.startswith(WAITS_FOR):
        return row.unblocked_words
    return seen_line(row.action, LONGEST)


def _place(row: AgentRow) -> str:
    """Its worktree; of an agent of another clone, that clone."""
    return seen_line(row.worktree, LONGEST) if row.is_here else f"clone {row.clone[:6]}"


COLUMNS = (  # the most important first; the last ones are hidden if it is narrow
    Column("agent", lambda row: row.name, 24, 16, "bold"),
    Column("issue", lambda row: row.issue_words, 8, 8),
    Column("title", lambda row: seen_line(row.title, LONGEST), 60, 12),
    Column("state", _state, 26, 14),
    Column("age", _age, 4, 4, "dim", right=True),
    Column("about", _about, 12, 12),
    Column("detail", _detail, 80, 16),
    Column("worktree", _place, 28, 12, "dim"),
    Column("branch", lambda row: seen_line(row.branch, LONGEST), 40, 16, "dim"),
    Column("leases", lambda row: count(row.leases, "lease") if row.leases else "", 9, 9, "dim"),
)


LAST = COLUMNS[-3:]
COMFORT = 24  # cells


def _chosen(rows: Sequence[AgentRow], width: int) -> tuple[list[Column], list[str]]:
    """The columns that fit, and the names of others that have content."""
    filled = [column for column in COLUMNS if any(map(column.cell, rows))]
    chosen: list[Column] = []
    taken = MARK - GAP
    for column in filled:
        taken += GAP + min(column.least, _widest(column, rows))
        # The title and the detail are to be read well before a last column is shown.
        if taken + (COMFORT if column in LAST else 0) > width:
            break
        chosen.append(column)
    return chosen, [column.name for column in filled[len(chosen) :]]


def _widest(column: Column, rows: Sequence[AgentRow]) -> int:
    return min(column.most, max((cells(column.cell(row)) for row in rows), default=0))


def _widths(columns: Sequence[Column], rows: Sequence[AgentRow], width: int) -> list[int]:
    """Every column gets its least width; what is left goes to the short ones, then to the title
    and the detail in equal parts, as far as they need it, and then to the last ones."""
    wanted = [_widest(column, rows) for column in columns]
    widths = [min(column.least, most) for column, most in zip(columns, wanted, strict=True)]
    left = width - MARK - sum(widths) - GAP * (len(columns) - 1)
    long = [at for at, column in enumerate(columns) if column.name in ("title", "detail")]
    last = [at for at, column in enumerate(columns) if column in LAST]
    short = [at for at in range(len(columns)) if at not in (*long, *last)]
    for at, share in (
        *((at, 1) for at in short),
        *((at, 2) for at in long),
        *((at, 1) for at in (*long, *last)),
    ):
        more = max(0, min(wanted[at] - widths[at], left // share))
        widths[at] += more
        left -= more
    return widths
