"""Questions as an issue shows them: a label while one is open, and who is to answer assigned.

It follows from the state and is compared at each sync, so nothing of it waits anywhere. Only an
issue about which somebody asked is touched, and of people only those are taken off again whom this
clone has put there.
"""

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ghp_agents.core import files
from ghp_agents.core.errors import GhpError, UnknownError
from ghp_agents.core.ids import Actor
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import Escalation
from ghp_agents.escalations.messages import at
from ghp_agents.issues.issue import NO_CHANGE, Issue, IssueChange, effective
from ghp_agents.ports import IssueTracker, Snapshot
from ghp_agents.workspace import Workspace

CALLED = "called"  # a folder with one file for each issue to which people were called
BY = Actor("ghp-agents")


def show(
    ws: Workspace, tracker: IssueTracker, snapshot: Snapshot, issues: Iterable[Issue]
) -> list[str]:
    """Bring labels and assignees up to date; what stood in the way. Raises UnknownError."""
    asked: dict[int, list[Escalation]] = {}
    for each in escalation.read_all(snapshot, ws.settings.orchestrators)[0]:
        if each.question.issue is not None:
            asked.setdefault(each.question.issue, []).append(each)
    notes: list[str] = []
    for issue in issues if asked else ():
        about = [each for number in issue.numbers for each in asked.get(number, ())]
        if about:
            notes += _show(ws, tracker, issue, is_open=any(each.is_open for each in about))
    return notes


def _show(ws: Workspace, tracker: IssueTracker, issue: Issue, *, is_open: bool) -> list[str]:
    waits = is_open and issue.state != "closed"
    label = _label(ws, issue)
    people = tuple(at(each) for each in ws.settings.escalate_to if "/" not in each)
    called = _called(ws, issue.number)
    change = IssueChange(remove_labels=(label,), remove_assignees=called)
    if waits:
        fresh = people if label not in issue.labels else ()
        change = IssueChange(add_labels=(label,), add_assignees=fresh)
    if effective(issue, change) == NO_CHANGE:
        return []
    try:
        now = tracker.change(issue.number, change, BY)
    except UnknownError:
        raise
    except GhpError as error:
        return [f"#{issue.number} does not show that it waits for a person: {error}"]
    new = [each for each in now.assignees if each not in issue.assignees]
    _note(ws, issue.number, [*called, *new] if waits else ())
    return []


def _label(ws: Workspace, issue: Issue) -> str:
    """The label, as the issue has it: to GitHub, labels that differ in case alone are one."""
    wanted = ws.settings.needs_human_label
    return next((each for each in issue.labels if each.lower() == wanted.lower()), wanted)


def _called(ws: Workspace, number: int) -> tuple[str, ...]:
    for folder in ws.folders:
        with suppress(OSError, ValueError):
            told = json.loads(Path(folder, CALLED, f"{number}.json").read_bytes())
            return tuple(each for each in told if isinstance(each, str))
    return ()


def _note(ws: Workspace, number: int, people: Iterable[str]) -> None:
    """Remember them durably: nobody else knows that they were not there before."""
    said = list(dict.fromkeys(people))
    for folder in map(Path, ws.folders):
        path = folder / CALLED / f"{number}.json"
        if not said:
            path.unlink(missing_ok=True)
        elif files.usable(folder):
            files.write_atomically(path, json.dumps(said).encode())
            return
