"""Texts of a sweep: comments on issues, the question that ends attempts, and the summary.

Agents' names are checked. Text of others is only in the summary, in one line and escaped.
"""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from ghp_agents.core.clock import ago, for_people
from ghp_agents.core.declared import NULL
from ghp_agents.core.ids import one_line
from ghp_agents.sweep.plan import ALERT, REASSIGN, Held


class SweepLine(NamedTuple):
    """One act of a sweep."""

    kind: str
    issue: int | None
    agent: Annotated[str, NULL]
    to: Annotated[str, NULL]
    done: bool
    failed: bool  # an error prevented it
    text: str


def marker(what: str, held: Held) -> str:
    """Return the marker of a comment: each comment is made once for each claim."""
    return f"<!-- ghp:{what} {held.holder} {held.lock.generation} -->"


def silent(held: Held, dead_after: float, policy: str) -> str:
    """Return the comment that a holder is silent."""
    then = {
        ALERT: "somebody should take care of it",
        REASSIGN: "the issue is given to another agent",
    }.get(policy, "the issue goes back to the queue")
    state = (
        f"After {ago(dead_after)} it counts as dead, and {then}."
        if not held.lapsed
        else f"It counts as {held.state}: somebody should take care of it."
    )
    return _comment(
        f"{held.holder} holds this issue and has been silent for {ago(held.silent)}. {state}",
        marker("silent", held),
    )


def back(held: Held) -> str:
    """Return the comment that a holder is back."""
    return _comment(f"{held.holder} is back and continues with this issue.", marker("back", held))


def freed(held: Held, to: str | None, handoff: str, attempt: int, most: int) -> str:
    """Return the comment on what happened to a dead holder's issue."""
    then = f"{to} has it now" if to else "The issue is back in the queue"
    if attempt >= most:
        then = "Nobody holds it now, and a person was asked how to continue"
    more = f" The handoff {handoff} has the details." if handoff else ""
    return _comment(
        f"{held.holder} held this issue and is {held.state}. {then}: attempt {attempt} of {most}."
        f"{more}",
        marker("freed", held),
    )


def _comment(text: str, mark: str) -> str:
    return f"{text}\n\n{mark}"


def question(issue: int, held: Held, attempt: int) -> str:
    """Return the question to a person instead of another attempt; the same for each claim."""
    died = "Its agent died once" if attempt == 1 else f"Its agents died {attempt} times in a row"
    return (
        f"Who should continue with #{issue}?\n\n{died}; the last was {held.holder}, from "
        f"{for_people(held.lock.acquired_at)} on. No agent gets it until somebody answers."
    )


def summary(lines: Sequence[SweepLine], agents: Sequence[tuple[str, int]], notes: Sequence[str],
            *, policy: str, dry_run: bool) -> str:  # fmt: skip
    """Return the sweep as a page of markdown, for a job's summary."""
    counted = ", ".join(f"{count} {state}" for state, count in agents) or "none"
    parts = [
        f"## Sweep of agents ({policy}{', dry run' if dry_run else ''})",
        f"Agents: {counted}.",
    ]
    if lines:
        rows = ["| | issue | agent | what |", "|---|---|---|---|"]
        for line in lines:
            sign = "planned" if dry_run else "done" if line.done else "left"
            sign = "note" if line.kind == "tell" else sign
            number = f"#{line.issue}" if line.issue else ""
            cells = (sign, number, _cell(line.agent), _cell(line.text))
            rows.append(f"| {' | '.join(cells)} |")
        parts.append("\n".join(rows))
    else:
        parts.append("Nothing was left behind.")
    if notes:
        parts.append("\n".join(f"- {_cell(note)}" for note in notes))
    return "\n\n".join(parts) + "\n"


def _cell(text: str) -> str:
    line = one_line(text, 300).replace("&", "&amp;").replace("<", "&lt;")
    return "".join("\\" + char if char in "|[]`*_!\\" else char for char in line)
