"""The text about one agent: facts, changes, handoffs and log. Pure."""

from collections.abc import Iterator

from ghp_agents.cli.printing.wrapping import wrapped_line, wrapped_page
from ghp_agents.cli.views import agent as agent_view
from ghp_agents.cli.views.status_screen import Line
from ghp_agents.cli.watch.look import Detail
from ghp_agents.reports.overview import AgentRow

SECTIONS = ("CHANGES", "HANDOFFS", "LOG")
LABEL = 15  # columns


def detail_text(row: AgentRow, detail: Detail | None, columns: int) -> list[Line]:
    """An agent in full; without `detail`, that it is being read. Lines have at most `columns`; they
    break between words, and inside a command only if it is longer than a line."""
    _, *facts = agent_view.page(row, {})
    lines = [line for fact in facts for line in _fact(fact, columns)]
    if detail is None:
        return [*lines, (), (("Reading …", "dim"),)]
    for title, part in zip(SECTIONS, detail, strict=True):
        if part:
            lines += [(), ((title, "bold dim"),)]
            lines += [((x, ""),) for line in part for x in wrapped_page(line, columns).split("\n")]
    return lines


def _fact(fact: str, columns: int) -> Iterator[Line]:
    """A fact; what is longer than a line goes on below its text."""
    label, _, text = fact.strip().partition(": ")
    first, *others = wrapped_line(text, columns, LABEL, " " * LABEL).split("\n")
    yield ((f"{label:{LABEL}}", "dim"), (first, ""))
    yield from (((line, ""),) for line in others)
