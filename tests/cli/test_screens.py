"""What people see on a real terminal, at four widths, compared with what was recorded.

`RECORD_SCREENS=1` writes the recordings anew; look at the difference before you commit it.
"""

import os
from pathlib import Path

import pytest

from tests.support.git import git
from tests.support.screens import capture

RECORDED = Path(__file__).parent / "captures"
START = 1_750_000_000.0
LATER = START + 400
LONG = "Report the place of a syntax error with its line, its column and the text around it"


def at(time: float, *lines: str) -> list[tuple[float, str]]:
    return [(time, line) for line in lines]


@pytest.fixture
def team(repo: Path) -> Path:
    """Two agents at work, a question, leases, and a third agent that is waiting."""
    (repo / "src").mkdir()
    (repo / "src" / "lexer.py").write_text("TAB = 8\n")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "a lexer", "--date", "2026-01-03T00:00:00Z")
    return repo


BUILD = [
    'agent-issue new "Parse the input" --priority high',
    f'agent-issue new "{LONG}"',
    "agent-claim 1 --as worker-1",
    "agent-claim 2 --as worker-2",
    "agent-lease src/ --as worker-1",
    "agent-lease src/lexer.py --as worker-2",
    "agent-claim 1 --as worker-2",
    'agent-escalate "Is a tab one column or eight?" --option one --option eight --as worker-1',
    'agent-remember "A tab is eight columns wide." --kind decision --as worker-1',
]
SHOW = [
    "agent-status",
    "agent-issues",
    "agent-issue show 2",
    "agent-leases",
    "agent-escalations",
    "agent-notes list",
    "agent-log",
    "agent-timeline",
    "agent-resume --as worker-2",
    "agent-claim 7 --as worker-2",
    "agent-lease ../elsewhere --as worker-2",
]


@pytest.mark.slow
@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_the_main_commands_look_as_recorded(team: Path, columns: int) -> None:
    shown = capture([*at(START, *BUILD), *at(LATER, *SHOW)], team, columns, {})
    recorded = RECORDED / f"{columns}.txt"
    if os.environ.get("RECORD_SCREENS") == "1":
        recorded.write_text(shown, encoding="utf-8")
    assert "\x1b" not in shown
    assert shown == recorded.read_text(encoding="utf-8")
