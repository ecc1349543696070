"""The text about one agent: facts, changes, handoffs and log. Pure."""

from ghp_agents.cli.views import agent as agent_view
from ghp_agents.cli.views.status_screen import Line
from ghp_agents.cli.watch.look import Detail
from ghp_agents.reports.overview import AgentRow

SECTIONS = ("CHANGES", "HANDOFFS", "LOG")


def detail_text(row: AgentRow, detail: Detail | None) -> list[Line]:
    """An agent in full; without `detail`, that it is being read."""
    _, *facts = agent_view.page(row, {})
    lines: list[Line] = [_fact(fact) for fact in facts]
    if detail is None:
        return [*lines, (), (("Reading …", "dim"),)]
    for title, part in zip(SECTIONS, detail, strict=True):
        if part:
            lines += [(), ((title, "bold dim"),), *(((line, ""),) for line in part)]
    return lines


def _fact(fact: str) -> Line:
    label, _, text = fact.strip().partition(": ")
    return ((f"{label:15}", "dim"), (text, ""))
