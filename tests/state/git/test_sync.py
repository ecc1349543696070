"""How far an exchange is, for who looks at it."""

import os
from collections.abc import Callable
from pathlib import Path

from ghp_agents.api import connect
from ghp_agents.core import progress
from ghp_agents.core.progress import Progress
from ghp_agents.issues.issue import IssueChange
from ghp_agents.wiring import App


class Notes(Progress):
    """Keeps each detail that was shown."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        super().__init__("Syncing", lambda: None)

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if name == "detail" and value:
            self.seen.append(str(value))


def noted(clone: Path) -> list[str]:
    """What an exchange shows of its progress."""
    with progress.shown(notes := Notes()):
        assert App(clone, os.environ).store.sync().trouble is None
    return notes.seen


def test_it_says_how_many_records_it_sends_and_reads(clones: Callable[[int], list[Path]]) -> None:
    one, other = clones(2)
    for number in range(3):
        connect(one, agent="worker-1").new_issue(IssueChange(title=f"Part {number}"))
    pushes = [note for note in noted(one) if note.startswith("pushing")]
    assert pushes == ["pushing what is new to origin", "pushing 3 records to origin"]
    assert noted(other)[:3] == ["fetching from origin", "reading what is new", "reading 3 records"]
    assert noted(other) == ["fetching from origin", "reading what is new"]
