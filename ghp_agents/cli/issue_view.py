"""Issues as people and scripts see them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ghp_agents.cli import output
from ghp_agents.model.issue import Comment, Issue, short
from ghp_agents.model.names import IssueNumber, one_line
from ghp_agents.services.issue import Listing, View

NO_TITLE = "(not here yet, or not readable)"
COLUMNS = ("ISSUE", "PRIORITY", "STATE", "ASSIGNED", "BLOCKED BY", "LABELS", "TITLE")
MARKER = re.compile(r"\n*<!-- ghp:[a-z]+ [^\n]* -->\s*\Z")  # by which programs find a comment
STYLES = {"critical": "bold", "high": "bold", "low": "dim"}


def name(issue: Issue) -> str:
    """Number and title, on one line."""
    return f"{short(issue)} {one_line(issue.title, 100) or NO_TITLE}"


def names(issues: Iterable[Issue]) -> str:
    """The names of several, without their titles."""
    return ", ".join(short(issue) for issue in issues)


def table(listing: Listing) -> None:
    """Print issues as rows."""
    rows = [_row(issue, listing.open) for issue in listing.issues]
    styles = [_style(issue, listing.open) for issue in listing.issues]
    output.table(COLUMNS, rows, styles)


def _row(issue: Issue, known: Mapping[IssueNumber, Issue]) -> tuple[str, ...]:
    return (
        short(issue),
        issue.priority,
        issue.state,
        ", ".join(issue.assignees),
        names(known[number] for number in issue.blocked_by if number in known),
        ", ".join(issue.labels),
        one_line(issue.title, 100) or NO_TITLE,
    )


def _style(issue: Issue, known: Mapping[IssueNumber, Issue]) -> str:
    if issue.state != "open" or any(number in known for number in issue.blocked_by):
        return "dim"
    return STYLES.get(issue.priority, "")


def page(view: View) -> None:
    """Print all that is known of one issue."""
    for line in _lines(view):
        output.data(output.clean(line))


def _lines(view: View) -> Iterator[str]:
    issue = view.issue
    yield name(issue)
    yield f"{issue.state} · {issue.priority} · by {issue.author or '?'}, {issue.created_at or '?'}"
    facts = {
        "assigned to": ", ".join(issue.assignees),
        "labels": ", ".join(issue.labels),
        "part of": _related(view, [issue.parent] if issue.parent else []),
        "parts": "; ".join(map(name, view.parts)),
        "blocked by": _related(view, issue.blocked_by),
        "blocks": "; ".join(map(name, view.blocks)),
        "also known as": ", ".join(f"#{number}" for number in issue.other_numbers),
    }
    yield from (f"{fact}: {value}" for fact, value in facts.items() if value)
    if issue.body:
        yield f"\n{issue.body}"
    for comment in issue.comments:
        yield from _comment_lines(comment)


def _related(view: View, numbers: Iterable[IssueNumber]) -> str:
    return "; ".join(
        name(view.open[number]) if number in view.open else f"#{number} (closed)"
        for number in numbers
    )


def _comment_lines(comment: Comment) -> Iterator[str]:
    kind = "person" if comment.by_person else "agent"
    yield f"\n── {comment.author} ({kind}), {comment.at}"
    yield MARKER.sub("", comment.body)


def fields(issue: Issue) -> dict[str, Any]:
    """An issue as JSON."""
    return {
        "number": issue.number,
        "id": issue.id,
        "title": issue.title,
        "body": issue.body,
        "state": issue.state,
        "labels": list(issue.labels),
        "assignees": list(issue.assignees),
        "blockedBy": list(issue.blocked_by),
        "parent": issue.parent,
        "priority": issue.priority,
        "author": issue.author,
        "createdAt": issue.created_at,
        "updatedAt": issue.updated_at,
        "comments": [
            {
                "id": comment.id,
                "author": comment.author,
                "byPerson": comment.by_person,
                "createdAt": comment.at,
                "body": comment.body,
            }
            for comment in issue.comments
        ],
    }
