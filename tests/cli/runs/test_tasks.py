"""`agent-tasks` as a person uses it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ghp_agents.runs import folder, processes
from ghp_agents.runs.record import ENDED, FAILED, FINISHED
from ghp_agents.wiring import App
from tests.support.boxes import UNBOXED
from tests.support.clock import ManualClock
from tests.support.consent import agree
from tests.support.ghp import invoke, run_ghp
from tests.support.git import git
from tests.support.runs import RUN
from tests.support.waiting import until

TASK = """---
steps: [Read, Write]
run: echo "10% Read" >> "$GHP_PROGRESS"; echo "read $1"
---
"""
OLD = RUN._replace(agent="", issue=0, task="index docs", state=ENDED, outcome=FINISHED, why="247")


@pytest.fixture
def here(repo: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("GHP_BACKGROUND", "0")
    (repo / ".ghp/tasks").mkdir(parents=True)
    (repo / ".ghp/tasks/index.md").write_text(TASK)
    git(repo, "add", ".")
    git(repo, "commit", "--quiet", "-m", "Tasks")
    agree(repo)
    yield repo
    for run in folder.read_all(App(repo, {}).ws):
        processes.end(run, ManualClock().wait)


def of_old(repo: Path) -> Path:
    """A task that has ended."""
    ws = App(repo, {}).ws
    folder.write(ws, OLD)
    place = folder.of(ws, OLD.id)
    (place / "log").write_text("read docs\n")
    (place / "steps").write_text("100% Read\n45% Write\x1b[31m\n")
    (place / "command.json").write_text('{"command": ["true"], "time": 9, "steps": ["Go"]}')
    return repo


@pytest.mark.slow
def test_a_task_is_started_and_read_along(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://app:q8Lm2" + "Zx9k7@db/app")
    done = run_ghp("agent-tasks start index docs --as @me", here)
    name = done.out.strip()
    assert (done.code, done.err) == (
        0,
        "Credentials that the task does not get: DATABASE_URL. --keep-env NAME passes one on.\n"
        f"{UNBOXED}\n✓ Started index docs. To follow it: `ghp agent-tasks logs {name} -f`.\n",
    )
    until(lambda: folder.read_all(App(here, {}).ws)[0].state == ENDED)
    assert invoke("agent-tasks logs index --follow", here).out == "read docs\n"
    shown = invoke("agent-tasks progress index", here)
    assert shown.out == "✓ Read\n· Write\n"
    assert shown.err == f"{name}, index docs: finished: read docs.\n"


def test_tasks_are_listed(here: Path) -> None:
    of_old(here)
    clock = ManualClock(1_767_225_600.0 + 7_200)
    listed = invoke("agent-tasks list", here, clock=clock)
    assert listed.out == (
        "ID      TASK        BEGAN    STATE     PROGRESS\n"
        "R-0123  index docs  2 h ago  finished  247\n"
    )
    assert listed.err == "Main declares index. To start one: `ghp agent-tasks start NAME`.\n"
    (task,) = json.loads(invoke("agent-tasks list --json", here).out)
    assert task["steps"][0] == {"text": "Read", "state": "done", "percent": 100}
    runs = json.loads(invoke("agent-logs --json", here).out)
    assert [(run["task"], run["issue"]) for run in runs] == [("index docs", 0)]


def test_no_tasks_say_how_to_declare_one(repo: Path) -> None:
    assert "A file .ghp/tasks/NAME.md on main" in invoke("agent-tasks list", repo).err


def test_a_failed_step_is_marked_and_its_text_is_clean(here: Path) -> None:
    of_old(here)
    folder.write(App(here, {}).ws, OLD._replace(outcome=FAILED, why="no disk"))
    shown = invoke("agent-tasks progress R-0123", here)
    assert shown.out == "✓ Read\n✗ Write�[31m 45%\n· Go\n"
    assert shown.err == "R-0123456789ab, index docs: failed: no disk.\n"
    assert json.loads(invoke("agent-tasks progress index --json", here).out)["why"] == "no disk"


def test_a_step_is_reported_from_inside_only(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert invoke("agent-tasks progress --step Read", here).code == 2
    monkeypatch.setenv("GHP_PROGRESS", str(here.parent / "steps"))
    assert invoke("agent-tasks progress --step Read --percent 5", here).code == 0
    assert (here.parent / "steps").read_text() == "5% Read\n"


@pytest.mark.parametrize(
    ("line", "code", "error"),
    [
        ("start nope", 1, "Main declares no task 'nope'."),
        ("logs nope", 1, "No task 'nope' ran here."),
        ("progress", 2, "Name a task."),
        ("cancel index", 3, "index docs (R-0123456789ab) has ended: finished."),
    ],
)
def test_what_cannot_be_done_is_said(here: Path, line: str, code: int, error: str) -> None:
    done = invoke(f"agent-tasks {line}", of_old(here))
    assert (done.code, done.err.splitlines()[0]) == (code, f"Error: {error}")
