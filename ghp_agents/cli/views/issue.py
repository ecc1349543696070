"""Issues as text and as JSON."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ghp_agents.claims.service import Holding
from ghp_agents.cli import output
from ghp_agents.core import metadata
from ghp_agents.core.ids import IssueNumber, one_line
from ghp_agents.hotpath.quoting import NAME_LIMIT, file, indented, named, phrase, who
from ghp_agents.issues import outsider_text
from ghp_agents.issues.issue import TITLE_LIMIT, Comment, Issue, short

if TYPE_CHECKING:
    from ghp_agents.issues.service import IssueListing, View
    from ghp_agents.pulls.issue_work import IssueWork

Holdings = Mapping[int, Holding]

NO_TITLE = "(unknown or unreadable here)"
COLUMNS = ("ISSUE", "PRIORITY", "STATE", "HOLDER", "ASSIGNED", "BLOCKED BY", "LABELS", "TITLE")
# A marker that programs find a comment by.
MARKER = re.compile(r"\n*<!-- ghp:[a-z]+ [^\n]* -->\s*\Z")
ENDED = ("dead", "gone", "stopped", "client ended")  # holder states that are shown
STYLES = {"critical": "bold", "high": "bold", "low": "dim"}


def name(issue: Issue, limit: int = 100) -> str:
    """Number and title on one line; the title is quoted, as its author may be anyone."""
    return f"{short(issue)} {phrase(issue.title, limit) if issue.title.strip() else NO_TITLE}"


def names(issues: Iterable[Issue]) -> str:
    """The numbers of several issues."""
    return ", ".join(short(issue) for issue in issues)


def table(listing: "IssueListing", holdings: Holdings | None) -> None:
    """Print issues as a table; without a column of holders if these are unknown (None)."""
    rows = [_row(issue, listing.open, holdings) for issue in listing.issues]
    styles = [_style(issue, listing.open) for issue in listing.issues]
    columns = [x for x in COLUMNS if x != "HOLDER" or holdings is not None]
    output.table(columns, rows, styles)


def _row(
    issue: Issue, open_issues: Mapping[IssueNumber, Issue], holdings: Holdings | None
) -> tuple[str, ...]:
    holding = holding_of(issue, holdings or {})
    return (
        short(issue),
        issue.priority,
        issue.state,
        *([] if holdings is None else [_holder(holding) if holding else ""]),
        ", ".join(issue.assignees),
        names(open_issues[number] for number in issue.blocked_by if number in open_issues),
        ", ".join(issue.labels),
        (one_line(issue.title, 100) or NO_TITLE)
        + ("" if issue.offered else f" (by {one_line(issue.author, 40)}, without write access)"),
    )


def _style(issue: Issue, open_issues: Mapping[IssueNumber, Issue]) -> str:
    if issue.state != "open" or any(number in open_issues for number in issue.blocked_by):
        return "dim"
    return STYLES.get(issue.priority, "")


def holding_of(issue: Issue, holdings: Holdings) -> Holding | None:
    """The claim on the issue, if there is one."""
    return next((holdings[number] for number in issue.numbers if number in holdings), None)


def _holder(holding: Holding) -> str:
    return f"{holding.lock.holder}" + (f" ({holding.shown})" if holding.shown in ENDED else "")


def page(view: "View", holdings: Holdings | None, work: "IssueWork | None") -> Iterator[str]:
    """The lines of an issue in full; None is for what is unknown at a past time."""
    issue, holding = view.issue, holding_of(view.issue, holdings or {})
    yield name(issue, TITLE_LIMIT)
    outside = "" if issue.by_writer else " (no write access)"
    author = (phrase(issue.author, NAME_LIMIT) if issue.author else "?") + outside
    yield f"{issue.state} · {issue.priority} · by {author}, {output.when(issue.created_at)}"
    wide = too_wide(issue)
    facts = {
        "not offered to agents": "" if issue.offered else "a maintainer can assign or label it",
        "claimed by": _claimed(holding) if holding else "",
        "assigned to": ", ".join(map(named, issue.assignees)),
        **(_work_facts(work) if work else {}),
        "labels": ", ".join(map(file, issue.labels)),
        "part of": _related(view, [issue.parent] if issue.parent else []),
        "parts": "; ".join(map(_part, view.parts)),
        "blocked by": _related(view, issue.blocked_by),
        "blocks": "; ".join(map(name, view.blocks)),
        "ignored in its scope": wide and f"{wide}: it matches everything",
        "metadata": metadata.shown(issue.metadata),
        "also known as": ", ".join(f"#{number}" for number in issue.other_numbers),
    }
    yield from (f"{fact}: {value}" for fact, value in facts.items() if value)
    from ghp_agents.issues import epics

    if epics.is_done(issue, view.parts):
        yield epics.proposal(issue, len(view.parts))
    if issue.edited_at:
        yield f"\n({outsider_text.edited(issue)})"
    if issue.body:
        yield f"\n{indented(issue.body)}"
    if issue.left_out:
        yield f"\n({outsider_text.left_out(issue)})"
    for comment in issue.comments:
        yield from _comment_lines(comment)


def _work_facts(work: "IssueWork") -> dict[str, str]:
    from ghp_agents.cli.views.pull import state_of  # lists do not need them
    from ghp_agents.handoffs.markdown import handed

    pulls = [f"#{pull.number} ({state_of(pull)}) {phrase(pull.title, 100)}" for pull in work.pulls]
    facts = {"pull requests" if len(pulls) > 1 else "pull request": "; ".join(pulls)}
    branch = _branch(work)
    here = {"branch": file(branch) if branch else ""}
    if work.checkout:
        here["worktree"] = file(str(work.checkout.path))
    facts = here | facts
    if work.handoff:
        last = work.handoff
        note = f", {phrase(last.note, 80)}" if last.note else ""
        facts["last handoff"] = f"{last.name}, {output.when(last.at)}: {handed(last)}{note}"
    return facts


def _branch(work: "IssueWork") -> str:
    """The branch of the worktree here, else of an open pull request or of the last handoff."""
    branches = [pull.branch for pull in work.pulls if pull.state == "open"]
    here = work.checkout.branch if work.checkout else None
    return here or (branches and branches[-1]) or (work.handoff and work.handoff.branch) or ""


def say_passed_over(count: int) -> None:
    """Say how many issues were skipped because their authors cannot write here."""
    what, them = ("1 issue", "it") if count == 1 else (f"{count} issues", "them")
    output.say(
        f"Skipped {what} by people without write access; a maintainer can assign or label {them}."
    )


def too_wide(issue: Issue) -> str:
    """The patterns in its scope that match everything, or an empty string."""
    from ghp_agents.issues import scope  # lists do not need it

    return ", ".join(f"`{pattern}`" for pattern in scope.too_wide(issue.form))


def _claimed(holding: Holding) -> str:
    lock = holding.lock
    kind = holding.shown or "a person"
    why = f", reason: {phrase(lock.reason)}" if lock.reason else ""
    since = output.when(lock.acquired_at)
    return f"{named(lock.holder or '')} ({kind}) since {since}, generation {lock.generation}{why}"


def _related(view: "View", numbers: Iterable[IssueNumber]) -> str:
    return "; ".join(
        name(view.open[number]) if number in view.open else f"#{number} (closed)"
        for number in numbers
    )


def _part(part: Issue) -> str:
    return name(part) + (" (closed)" if part.state == "closed" else "")


def _comment_lines(comment: Comment) -> Iterator[str]:
    outside = "" if comment.by_writer else " (no write access)"
    yield f"\n── {who(comment.author, comment.by_person)}{outside}, {output.when(comment.at)}"
    yield indented(MARKER.sub("", comment.body))


def fields(issue: Issue, holdings: Holdings | None) -> dict[str, Any]:
    """An issue as JSON; without a claim if the holders are unknown (None)."""
    holding = holding_of(issue, holdings or {})
    claim = {"claim": claim_fields(holding) if holding else None}
    return {
        "number": issue.number,
        "id": issue.id,
        "title": issue.title,
        "body": issue.body,
        "state": issue.state,
        "labels": issue.labels,
        "assignees": issue.assignees,
        **({} if holdings is None else claim),
        "blockedBy": issue.blocked_by,
        "parent": issue.parent,
        "priority": issue.priority,
        "author": issue.author,
        "byWriter": issue.by_writer,
        "offered": issue.offered,
        "bodyEditedAt": issue.edited_at or None,
        "createdAt": issue.created_at,
        "updatedAt": issue.updated_at,
        "metadata": metadata.as_object(issue.metadata),
        "commentsLeftOut": issue.left_out,
        "comments": [
            {
                "id": comment.id,
                "author": comment.author,
                "byPerson": comment.by_person,
                "byWriter": comment.by_writer,
                "createdAt": comment.at,
                "body": comment.body,
            }
            for comment in issue.comments
        ],
    }


def fields_of_parts(parts: Iterable[Issue]) -> dict[str, Any]:
    """The parts of an issue as JSON."""
    return {
        "parts": [
            {"number": part.number, "title": part.title, "state": part.state} for part in parts
        ]
    }


def claim_fields(holding: Holding) -> dict[str, Any]:
    """A claim as JSON."""
    lock = holding.lock
    values = {
        "holder": lock.holder,
        "isPerson": lock.is_person,
        "generation": lock.generation,
        "since": lock.acquired_at,
    }
    return values | ({"liveness": holding.state} if holding.state else {})
