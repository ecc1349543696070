"""Show open questions on their issue: by a label, and by assigning the people who should answer.

Both are derived from the state and compared at each sync, so nothing is queued. Only issues with
questions are changed. Only people that this clone assigned are unassigned.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from ghp_agents.core import files
from ghp_agents.core.errors import GhpError, RefusedError, UnknownError
from ghp_agents.core.ids import Actor
from ghp_agents.core.json_file import texts_file
from ghp_agents.escalations.escalation import Escalation
from ghp_agents.escalations.messages import at
from ghp_agents.issues.issue import NO_CHANGE, Issue, IssueChange, effective
from ghp_agents.ports import Context
from ghp_agents.workspace import Workspace

CALLED = "called"  # a folder with one file for each issue to which this clone assigned people
PENDING = "calling"  # the same for people whose assignment GitHub has not confirmed
BY = Actor("ghp-agents")


def show(ctx: Context, questions: Iterable[Escalation], issues: Iterable[Issue]) -> list[str]:
    """Update labels and assignees; return notes on failures. Raises UnknownError."""
    by_issue: dict[int, list[Escalation]] = {}
    for question in questions:
        if question.question.issue is not None:
            by_issue.setdefault(question.question.issue, []).append(question)
    notes: list[str] = []
    for issue in issues if by_issue else ():
        about = [question for number in issue.numbers for question in by_issue.get(number, ())]
        if about:
            notes += _show(ctx, issue, is_open=any(question.is_open for question in about))
    return notes


def _show(ctx: Context, issue: Issue, *, is_open: bool) -> list[str]:
    waits = is_open and issue.state != "closed"
    label = _label(ctx.ws, issue)
    people = tuple(at(account) for account in ctx.ws.settings.escalate_to if "/" not in account)
    called, pending = (_noted(ctx.ws, issue.number, kind) for kind in (CALLED, PENDING))
    change = IssueChange(remove_labels=(label,), remove_assignees=called)
    if waits:
        fresh = people if label not in issue.labels else pending
        change = IssueChange(add_labels=(label,), add_assignees=fresh)
    if effective(issue, change) == NO_CHANGE:
        return []
    # Noted before the request: GitHub may assign them and not answer.
    new = [name for name in change.add_assignees if name not in issue.assignees]
    _note(ctx.ws, issue.number, CALLED, [*called, *new])
    _note(ctx.ws, issue.number, PENDING, new)
    try:
        now = ctx.tracker.change(issue.number, change, BY)
    except UnknownError:
        raise
    except GhpError as error:
        if type(error) is RefusedError:  # GitHub will not assign them
            _note(ctx.ws, issue.number, CALLED, called)
            _note(ctx.ws, issue.number, PENDING, ())
        return [f"Cannot mark #{issue.number} as waiting for a person: {error}"]
    new = [name for name in now.assignees if name not in issue.assignees]
    _note(ctx.ws, issue.number, CALLED, [*called, *new] if waits else ())
    _note(ctx.ws, issue.number, PENDING, ())
    return []


def _label(ws: Workspace, issue: Issue) -> str:
    """The label in the issue's spelling: GitHub ignores the case of labels."""
    wanted = ws.settings.needs_human_label
    return next((label for label in issue.labels if label.lower() == wanted.lower()), wanted)


def _noted(ws: Workspace, number: int, kind: str) -> tuple[str, ...]:
    read = (texts_file(Path(top, kind, f"{number}.json")).read() for top in ws.folders)
    return tuple(next(filter(None, read), ()))


def _note(ws: Workspace, number: int, kind: str, people: Iterable[str]) -> None:
    """Store people durably: only this clone knows that it assigned them."""
    names = list(dict.fromkeys(people))
    for folder in map(Path, ws.folders):
        path = folder / kind / f"{number}.json"
        if not names:
            path.unlink(missing_ok=True)
        elif files.usable(folder):
            files.write_atomically(path, json.dumps(names).encode())
            return
