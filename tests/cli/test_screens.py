"""What people see on a real terminal, at four widths, compared with what was recorded.

`make captures` writes the recordings anew; look at the difference before you commit it.
"""

import os
import re
from pathlib import Path

import pytest

from ghp_agents.cli.app import COMMANDS
from tests.support.git import git
from tests.support.screens import capture
from tests.support.thorough import some

RECORDED = Path(__file__).parent / "captures"
START = 1_750_000_000.0
LATER = START + 400
LONG = "Report the place of a syntax error with its line, its column and the text around it"
PLACE = "~/.ghp/worktrees/repo/3-write-the-manual"
DATED = "GIT_AUTHOR_DATE=2026-01-04T00:00:00Z GIT_COMMITTER_DATE=2026-01-04T00:00:00Z"
MARKS = re.compile(r"<(?:\d[\d;]*|/)>")  # how a capture shows colours


def at(time: float, *lines: str) -> list[tuple[float, str]]:
    return [(time, line) for line in lines]


@pytest.fixture
def team(repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two agents at work, a question, leases, and a third agent that is waiting."""
    monkeypatch.setenv("GHP_BACKGROUND", "0")
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
    "agent-status worker-1",
    "agent-status --at '1 min ago'",
    "agent-issues",
    "agent-issue show 2",
    "agent-leases",
    "agent-check src/lexer.py --as worker-2",
    "agent-escalations",
    "agent-send worker-2 'May I change the lexer?' --kind question --as worker-1",
    "agent-inbox --as worker-2",
    "agent-thread M-000000000000",
    "agent-send worker-2 'Use eight columns' --kind proposal --as worker-1",
    "agent-vote M-000000000000 --against --reason 'Four is enough' --as worker-2",
    "agent-vote M-000000000000",
    "agent-run question 'How wide is a tab?' --as worker-1",
    "agent-workflows",
    "agent-subscribe 'code.*' --as worker-2",
    "agent-topic list",
    "agent-jobs",
    "agent-explain 1",
    "agent-explain worker-2",
    "agent-dispatch --dry-run",
    "agent-notes list",
    "agent-conflicts",
    "agent-whoami --as worker-1",
    "agent-log",
    "agent-report",
    "agent-timeline",
    "agent-resume --as worker-2",
    "agent-claim 7 --as worker-2",
    "agent-lease ../elsewhere --as worker-2",
]
# From an issue to merged work, and what stays of it.
WAY = [
    'agent-issue new "Write the manual"',
    "agent-start 3 --as worker-3",
    f"cd {PLACE}",
    f"! echo manual > manual.md && git add . && {DATED} git commit -qm 'Write the manual'",
    "agent-where 3",
    "agent-update --as worker-3",
    "agent-finish --as worker-3",
    "agent-pulls",
    "agent-pull show 4",
    "agent-review 4 --request-changes 'Say what a tab is.' --as worker-1",
    "agent-explain 3",
    "agent-review 4 --approve --as worker-1",
    "cd -",
    "agent-merge 4 --unchecked",
    "agent-answer E-000000000000 eight",
    'agent-handoff --note "The lexer is half done." --as worker-2',
    "agent-release 2 --as worker-2",
    "agent-stop worker-1 --reason 'The plan has changed.'",
    "agent-sync",
    "agent-report --cost",
    "agent-sweep",
]
SCRIPT = [*at(START, *BUILD), *at(LATER, *SHOW, *WAY)]
# Why a command is not in the script.
ELSEWHERE = {
    "agent-demo": "it draws until its agents are done, and the README shows it",
    "agent-doctor": "it reports on the machine",
    "agent-export": "it writes files and names their folder",
    "agent-heartbeat": "it prints nothing",
    "agent-init": "it names the clients that the machine has",
    "agent-recall": "it searches with what is installed",
    "agent-mcp": "it speaks a protocol with programs",
    "agent-plugin": "it writes files and names their folder",
    "agent-tasks": "the ids of runs are random",
    "agent-logs": "the ids of runs are random",
    "agent-work": "it starts clients",
    "agent-trust": "a clone of one's own has nothing to agree to",
}


def test_every_command_is_captured_or_says_why_not() -> None:
    captured = {line.split()[0] for _, line in SCRIPT if line.startswith("agent-")}
    assert captured | ELSEWHERE.keys() == COMMANDS.keys()
    assert not captured & ELSEWHERE.keys()


def shown_at(columns: int, team: Path, env: dict[str, str] | None = None) -> str:
    shown = capture(SCRIPT, team, columns, env or {})
    assert "\x1b" not in shown
    assert "�" not in shown
    assert "Traceback" not in shown
    return shown


@pytest.mark.slow
def test_the_first_screens_look_as_recorded(team: Path) -> None:
    shown = capture(at(START, *BUILD), team, 80, {})
    assert (RECORDED / "80.txt").read_text(encoding="utf-8").startswith(shown)


@pytest.mark.slow
@pytest.mark.parametrize("columns", some([60, 80, 120, 200], every=2))
def test_every_command_looks_as_recorded(team: Path, columns: int) -> None:
    shown = shown_at(columns, team)
    recorded = RECORDED / f"{columns}.txt"
    if os.environ.get("RECORD_SCREENS") == "1":
        recorded.write_text(shown, encoding="utf-8")
    assert shown == recorded.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("columns", some([60, 80, 120, 200], every=3))
def test_without_colours_every_command_says_the_same(team: Path, columns: int) -> None:
    shown = shown_at(columns, team, {"NO_COLOR": "1"})
    assert {*MARKS.findall(shown)} <= {"<1>", "<2>", "</>"}, "bold and dim are no colours"
    coloured = (RECORDED / f"{columns}.txt").read_text(encoding="utf-8")
    assert unmarked(shown) == unmarked(coloured)


def unmarked(shown: str) -> str:
    return re.sub(" +$", "", MARKS.sub("", shown), flags=re.MULTILINE)
