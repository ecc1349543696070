"""Pull requests as text and as JSON."""

from collections.abc import Iterator, Sequence
from typing import Any

from ghp_agents.cli import output
from ghp_agents.core.ids import Actor, listed, one_line
from ghp_agents.escalations.messages import who
from ghp_agents.handoffs.returned import Return
from ghp_agents.handoffs.returned_work import why
from ghp_agents.hotpath.quoting import NAME_LIMIT, file, indented, phrase
from ghp_agents.pulls.details import PullDetails
from ghp_agents.pulls.pull import TITLE_LIMIT, Pull
from ghp_agents.pulls.requested_changes import words
from ghp_agents.pulls.review import ReviewRecord

COLUMNS = ("PULL", "STATE", "ISSUE", "BRANCH", "AUTHOR", "TITLE")
WHOLE = 2_000  # characters of a review
SHOWN = 10  # paths that are listed
NO_TITLE = "(unknown or unreadable here)"


def state_of(pull: Pull) -> str:
    """The state in one word; an open draft is a draft."""
    return "draft" if pull.draft and pull.state == "open" else pull.state


def table(pulls: Sequence[Pull], sent_back: Sequence[Return | ReviewRecord]) -> None:
    """Print pull requests as a table, and below it why the queue or a reviewer sent some back."""
    states = {entry.pull: _state(entry) for entry in sent_back}
    styles = ["" if state_of(pull) == "open" else "dim" for pull in pulls]
    output.table(COLUMNS, [_row(pull, states.get(pull.number, "")) for pull in pulls], styles)
    for entry in sent_back:
        if isinstance(entry, ReviewRecord):
            text, shown = words(entry), "its reviews"
        else:
            text, shown = f"#{entry.pull} was sent back: {why(entry)}.", "the output"
        output.say(f"{text} `ghp agent-pull show {entry.pull}` shows {shown}.")


def _state(entry: Return | ReviewRecord) -> str:
    return "changes" if isinstance(entry, ReviewRecord) else "sent back"


def _row(pull: Pull, back: str) -> tuple[str, ...]:
    return (
        f"#{pull.number}",
        back or state_of(pull),
        f"#{pull.issue}" if pull.issue else "",
        one_line(pull.branch, 100),
        one_line(pull.author, NAME_LIMIT),
        one_line(pull.title, 100) or NO_TITLE,
    )


def fields(pull: Pull) -> dict[str, Any]:
    """A pull request as JSON."""
    return {
        "number": pull.number,
        "state": pull.state,
        "draft": pull.draft,
        "issue": pull.issue,
        "branch": pull.branch,
        "base": pull.base,
        "head": pull.head,
        "author": pull.author,
        "title": pull.title,
        "createdAt": pull.created_at,
        "updatedAt": pull.updated_at,
        "mergedAs": pull.merged_as,
        "url": pull.url or None,
    }


def page(details: PullDetails) -> Iterator[str]:
    """The lines of a pull request in full."""
    pull = details.pull
    author = phrase(pull.author, NAME_LIMIT) if pull.author else "?"
    yield f"#{pull.number} {phrase(pull.title, TITLE_LIMIT) if pull.title.strip() else NO_TITLE}"
    yield f"{state_of(pull)} · by {author}, {output.when(pull.created_at)}"
    yield f"branch: {file(pull.branch)}, into {file(pull.base)}"
    facts = {
        "head": file(pull.head[:12]) if pull.head else "",
        "merged as": file(pull.merged_as[:12]) if pull.merged_as else "",
        "issue": f"#{pull.issue}" if pull.issue else "",
        f"fits {file(pull.base)}": _fits(details),
        "waits for": listed([*details.waits_for], SHOWN),
        "url": file(pull.url) if pull.url else "",
    }
    yield from (f"{fact}: {value}" for fact, value in facts.items() if value)
    for entry, number in details.returns:
        at, by = output.when(entry.at), who(entry.by)
        yield f"sent back: round {number}, {at}, by {by}: {why(entry)}"
    for review in details.reviews:
        verdict = "approved" if review.approves else "requested changes"
        text = f": {phrase(review.text, WHOLE)}" if review.text.strip() else ""
        yield f"review: {verdict} at {file(review.head[:12])}, by {who(review.by)}{text}"
    if pull.body.strip():
        yield f"\n── {author}\n{indented(pull.body)}"


def _fits(details: PullDetails) -> str:
    conflicts = details.conflicts
    if conflicts is None:
        return ""
    if details.removed:
        commits = listed([oid[:12] for oid in details.removed], SHOWN)
        return f"no, it has commits that were removed from {file(details.pull.base)}: {commits}"
    return f"no, it conflicts in {listed([*map(file, conflicts)], SHOWN)}" if conflicts else "yes"


def all_fields(details: PullDetails) -> dict[str, Any]:
    """All of a pull request as JSON."""
    conflicts = details.conflicts
    return {
        **fields(details.pull),
        "body": details.pull.body,
        "fits": None if conflicts is None else not (conflicts or details.removed),
        "conflicts": list(conflicts or ()),
        "removed": list(details.removed),
        "waitsFor": list(details.waits_for),
        "reviews": [
            {
                **_by(review.by),
                "head": review.head,
                "approves": review.approves,
                "text": review.text,
            }
            for review in details.reviews
        ],
        "returns": [_return_fields(*pair) for pair in details.returns],
    }


def _return_fields(entry: Return, number: int) -> dict[str, Any]:
    fields = {
        "reason": entry.reason,
        "text": entry.text,
        "agent": entry.agent,
        "head": entry.head,
        "trunk": entry.trunk,
        "at": entry.at,
    }
    return {"round": number, **fields, **_by(entry.by)}


def _by(actor: Actor) -> dict[str, Any]:
    return {"by": actor.name, "byPerson": actor.is_person}
