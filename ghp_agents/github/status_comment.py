"""The one comment on an issue that shows how it goes with it. Pure: from facts to text.

Nothing in it changes by the mere passing of time: the same state is the same text, and that is not
written again. What is quoted of others is one line, and calls and formats nothing.
"""

from typing import NamedTuple

from ghp_agents.core.ids import Actor, one_line
from ghp_agents.escalations.escalation import Escalation
from ghp_agents.github import marker as github_marker
from ghp_agents.handoffs.handoff import Handoff
from ghp_agents.issues.comment_commands import Obeyed
from ghp_agents.locks.lock import Lock

MARKER = github_marker.STATE
BY = Actor("ghp-agents")
SHOWN = 10  # questions
_SPECIAL = "\\|[]`*_~#"


class IssueStatus(NamedTuple):
    """How it goes with an issue."""

    number: int
    closed: bool = False
    lease: Lock | None = None  # whoever holds it, if anybody does
    assigned: tuple[str, ...] = ()
    status: str = ""
    branch: str = ""
    pull: int | None = None
    handoff: Handoff | None = None
    questions: tuple[Escalation, ...] = ()  # open ones
    command: Obeyed | None = None  # the last one
    stopped: bool = False


def render(facts: IssueStatus) -> str:
    """The comment's text."""
    rows = list(_rows(facts))
    lines = [f"| **{name}** | {text} |" for name, text in rows]
    table = ["| | |", "|---|---|", *lines] if lines else []
    return "\n\n".join(filter(None, [_headline(facts), "\n".join(table)]))


def essence(facts: IssueStatus) -> str:
    """The text without what changes often."""
    return render(facts._replace(status=""))


def _headline(facts: IssueStatus) -> str:
    holder = facts.lease.holder if facts.lease else None
    if facts.closed:
        return "This issue is closed."
    if holder is None:
        if facts.stopped:
            return "Work on this issue was stopped by a person; nobody has it."
        if facts.assigned:
            return f"Assigned to {', '.join(map(cell, facts.assigned))}, who has not begun."
        return "No agent has this issue."
    status = f": {cell(facts.status)}" if facts.status else ""
    return f"**{cell(holder)}** has this issue{status}."


def _rows(facts: IssueStatus) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    lease = facts.lease
    if lease and lease.holder:
        rows.append(("since", f"{lease.acquired_at} (generation {lease.generation})"))
    if facts.branch:
        rows.append(("branch", f"`{_code(facts.branch)}`"))
    if facts.pull:
        rows.append(("pull request", f"#{facts.pull}"))
    if facts.handoff:
        had = facts.handoff
        rows.append(("last handoff", f"{had.name}, {had.at}, by {cell(had.by.name)}"))
    for each in facts.questions[:SHOWN]:
        asks = f"{each.name}, asked by {cell(each.question.agent)}: {cell(each.title)}"
        rows.append(("open question", asks))
    if len(facts.questions) > SHOWN:
        rows.append(("open questions", f"{len(facts.questions) - SHOWN} more"))
    if facts.command:
        rows.append(("last command", _commanded(facts.command)))
    return rows


def _commanded(said: Obeyed) -> str:
    acts = "; ".join(f"`{_code(act.command)}`: {cell(act.words)}" for act in said.acts)
    return f"{cell(said.by.name)}, {said.at}: {acts}"


def cell(text: str) -> str:
    """Text of others in one cell of a table."""
    line = one_line(text, 200).replace("&", "&amp;").replace("<", "&lt;").replace("@", "@\u200b")
    return "".join("\\" + char if char in _SPECIAL else char for char in line)


def _code(text: str) -> str:
    return one_line(text, 200).replace("`", "'").replace("|", "/").replace("<!--", "&lt;!--")
