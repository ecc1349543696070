"""The text of the one comment that shows an issue's status. Pure: facts to text.

The text does not change with time alone, so an unchanged status is not written again. Quoted text
is cut to one line; mentions and formatting in it are escaped. Questions are only counted: each has
a comment of its own, and a quotation of this one must not look like an answer.
"""

from typing import NamedTuple

from ghp_agents.core.clock import for_people
from ghp_agents.core.ids import one_line
from ghp_agents.escalations.escalation import Escalation
from ghp_agents.github import marker as github_marker
from ghp_agents.github.wording import cell
from ghp_agents.handoffs.handoff import Handoff
from ghp_agents.issues.comment_commands import Obeyed
from ghp_agents.locks.lock import Lock

MARKER = github_marker.STATE


class IssueStatus(NamedTuple):
    """The status of an issue."""

    number: int
    closed: bool = False
    lock: Lock | None = None  # the lock, if somebody holds it
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
    """The text without its frequently changing parts."""
    return render(facts._replace(status=""))


def _headline(facts: IssueStatus) -> str:
    holder = facts.lock.holder if facts.lock else None
    if facts.closed:
        return "This issue is closed."
    if holder is None:
        if facts.stopped:
            return "A person stopped the work on this issue; nobody holds it."
        if facts.assigned:
            return f"Assigned to {', '.join(map(cell, facts.assigned))}; work has not started."
        return "No agent holds this issue."
    status = f": {cell(facts.status)}" if facts.status else ""
    return f"**{cell(holder)}** holds this issue{status}."


def _rows(facts: IssueStatus) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    lock = facts.lock
    if lock and lock.holder:
        rows.append(("since", for_people(lock.acquired_at)))
    if facts.branch:
        rows.append(("branch", f"`{_code(facts.branch)}`"))
    if facts.pull:
        rows.append(("pull request", f"#{facts.pull}"))
    if facts.handoff:
        handoff = facts.handoff
        by_whom = f"by {cell(handoff.by.name)}, {for_people(handoff.at)}"
        rows.append(("last handoff", f"{handoff.name}, {by_whom}"))
    if facts.questions:
        rows.append(("open questions", str(len(facts.questions))))
    if facts.command:
        rows.append(("last command", _commanded(facts.command)))
    return rows


def _commanded(command: Obeyed) -> str:
    acts = "; ".join(f"`{_code(act.command)}`: {cell(act.words)}" for act in command.acts)
    return f"{cell(command.by.name)}, {for_people(command.at)}: {acts}"


def _code(text: str) -> str:
    return one_line(text, 200).replace("`", "'").replace("|", "/").replace("<!--", "&lt;!--")
