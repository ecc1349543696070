"""The lines of the list, for a size of the terminal. Pure: values in, lines out."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ghp_agents.cli.views.status_screen import HEADINGS, Grid, Line
from ghp_agents.reports.overview import AgentGroup, AgentRow, Overview

SMALLEST = 4  # lines from which hidden agents are counted


class Page(NamedTuple):
    """What the list shows."""

    lines: tuple[Line, ...] = ()
    names: tuple[str, ...] = ()  # the agent of each line; empty for a heading
    at: int = -1  # the line of the selected agent


class Listing:
    """Agents under the headings of their groups, in lines of one width."""

    def __init__(self, rows: Sequence[AgentRow] = (), width: int = 0) -> None:
        self._grid = Grid(rows, width)
        self._entries: list[AgentGroup | AgentRow] = []
        for before, row in zip((None, *rows), rows, strict=False):
            is_first = before is None or before.group is not row.group
            self._entries += [row.group, row] if is_first else [row]

    def page(self, selected: str, height: int, elapsed: float = 0.0) -> Page:
        """At most `height` lines around the selected agent; what is hidden is counted at the
        edges. `elapsed`: seconds since the agents were read."""
        names = [entry.name if isinstance(entry, AgentRow) else "" for entry in self._entries]
        at = names.index(selected) if selected in names else 0
        first = max(0, min(at - height // 2, len(names) - height))
        shown, lines = names[first : first + height], []
        for entry in self._entries[first : first + height]:
            if isinstance(entry, AgentRow):
                lines.append(self._grid.line(aged(entry, elapsed)))
            else:
                lines.append(((HEADINGS[entry], "bold dim"),))
        if height >= SMALLEST and first > 0:
            lines[0], shown[0] = _more(names[: first + 1], "above"), ""
        if height >= SMALLEST and first + height < len(names):
            lines[-1], shown[-1] = _more(names[first + height - 1 :], "below"), ""
        return Page(tuple(lines), tuple(shown), at - first if selected else -1)


def _more(names: Iterable[str], where: str) -> Line:
    return ((f"  … {sum(map(bool, names))} more {where}", "dim"),)


def matching(rows: Iterable[AgentRow], words: str) -> list[AgentRow]:
    """The rows that have all of these words somewhere, in any case."""
    wanted = words.casefold().split()
    return [row for row in rows if all(word in _haystack(row) for word in wanted)]


def _haystack(row: AgentRow) -> str:
    needs = (f"{need.kind} {need.text} {need.id}" for need in row.needs)
    issue = f"#{row.issue}" if row.issue else ""
    values = (row.name, row.state, row.status, issue, row.title, row.branch, row.clone)
    return " ".join((*values, row.action, row.error, *needs)).casefold()


def aged(row: AgentRow, elapsed: float) -> AgentRow:
    """An agent some seconds later, if nothing happened."""
    needs = [
        need if need.age is None else need._replace(age=need.age + elapsed) for need in row.needs
    ]
    last_seen = None if row.last_seen is None else row.last_seen + elapsed
    return row._replace(last_seen=last_seen, needs=tuple(needs))


def news_aged(overview: Overview, elapsed: float) -> Overview:
    """An overview with the age of the news some seconds later."""
    age = overview.totals.news_age
    if age is None:
        return overview
    return overview._replace(totals=overview.totals._replace(news_age=age + elapsed))
