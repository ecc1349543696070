"""Tasks in the background: real processes, and nothing is left of them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.process import Child
from ghp_agents.messages import mailbox
from ghp_agents.runs import folder, processes, task_run
from ghp_agents.runs.record import ENDED, RunRecord
from ghp_agents.runs.task import TaskFile, TaskStep, parse
from ghp_agents.wiring import App
from ghp_agents.workspace import HOMES
from tests.support import boxes
from tests.support.clock import ManualClock
from tests.support.waiting import until

STAYS = 'echo "50% Wait" >> "$GHP_PROGRESS"; sleep 1000 & echo on; wait'


class Bureau:
    """Who starts tasks in a clone."""

    def __init__(self, repo: Path, home: Path) -> None:
        self.repo = repo
        self.children: list[Child] = []
        self.environ = {**os.environ, "HOME": str(home), "GHP_BACKGROUND": "0", "SOME_TOKEN": "s"}
        own = home / ".config/ghp-cli/config.json"
        own.parent.mkdir(parents=True)
        own.write_text('{"agents": {"runs": {"tasks": ["t"]}}}')

    def app(self, name: str | None = "@me") -> App:
        return App(self.repo, self.environ, name=name)

    def start(self, run: str, *args: str, by: str = "@me", time: float = 60.0) -> RunRecord:
        task = TaskFile("t", run=run, time=time, steps=("Wait", "Go"))
        return self.begin(task, *args, by=by)

    def begin(self, task: TaskFile, *args: str, by: str = "@me") -> RunRecord:
        started = task_run.start(self.app(by).ws, task, args, lead)
        self.children.append(started.child)
        return started.run

    def now(self, run: RunRecord) -> RunRecord:
        return next(x for x in folder.read_all(self.app().ws) if x.id == run.id)

    def ended(self, run: RunRecord) -> RunRecord:
        """The record after the end."""
        until(lambda: self.now(run).state == ENDED)
        until(lambda: not processes.marked(run.id))  # its leader ends last
        return self.now(run)

    def speaks(self, run: RunRecord) -> None:
        """Wait until it has printed something."""
        until(lambda: folder.log_size(folder.of(self.app().ws, run.id)))

    def news(self) -> list[tuple[str, tuple[str, ...], str]]:
        """What was sent: who, to whom, and the subject without ids."""
        app = self.app()
        messages = mailbox.read(app.ws, app.store.snapshot())
        return [(x.by.name, x.to, x.subject.partition(" (")[0]) for x in messages]


def lead(run: str) -> Sequence[str]:
    return [sys.executable, "-P", "-m", "ghp_agents", "agent-tasks", "lead", run]


@pytest.fixture
def bureau(repo: Path, tmp_path: Path) -> Iterator[Bureau]:
    office = Bureau(repo, tmp_path / "home")
    yield office
    for run in folder.read_all(office.app().ws):
        processes.end(run, ManualClock().wait)
    for child in office.children:
        child.kill()  # reaps it


@pytest.mark.slow
def test_a_task_runs_to_its_end_and_tells_the_agent_that_started_it(bureau: Bureau) -> None:
    run = bureau.start('echo "$2 of $#; $SOME_TOKEN"', "a", "b c; id", by="worker-1")
    ended = bureau.ended(run)
    assert (ended.task, ended.outcome, ended.why) == ("t a 'b c; id'", "finished", "b c; id of 2;")
    assert bureau.news() == [("task-t", ("worker-1", "@task.completed"), "Task t a 'b c; id'")]


@pytest.mark.slow
def test_a_task_that_fails_says_why(bureau: Bureau) -> None:
    run = bureau.ended(bureau.start("echo no disk; exit 3"))
    assert (run.outcome, run.why) == ("failed", "it exited with code 3: no disk")
    assert bureau.news() == [("task-t", ("@task.completed",), "Task t")]


@pytest.mark.slow
def test_a_task_ends_at_its_limit_with_what_it_started(bureau: Bureau) -> None:
    run = bureau.ended(bureau.start(STAYS, time=1.0))
    assert (run.outcome, run.why) == ("failed", "it took longer than 1 s")


@pytest.mark.slow
def test_a_cancelled_task_leaves_no_process_and_its_starter_hears_of_it(bureau: Bureau) -> None:
    run = bureau.start(STAYS, by="worker-1")
    bureau.speaks(run)
    assert task_run.state_of(bureau.app().ws, bureau.now(run)) == "running"
    assert task_run.steps_of(bureau.app().ws, bureau.now(run)) == [
        TaskStep("Wait", "running", 50), TaskStep("Go", "pending"),
    ]  # fmt: skip
    ended = task_run.cancel(bureau.app(), bureau.now(run), "wrong folder")
    assert processes.marked(run.id) == []
    assert ended.outcome == "stopped"
    assert ended.why.endswith(": wrong folder")
    assert [to for _, to, _ in bureau.news()] == [("worker-1", "@task.completed")]
    with pytest.raises(RefusedError):
        task_run.cancel(bureau.app(), ended, "")


@pytest.mark.slow
def test_a_task_whose_leader_was_killed_has_failed_and_can_be_cleared(bureau: Bureau) -> None:
    run = bureau.start(STAYS)
    bureau.speaks(run)
    os.kill(bureau.now(run).pid, signal.SIGKILL)
    until(lambda: not processes.lives(bureau.now(run)))
    assert task_run.state_of(bureau.app().ws, bureau.now(run)) == "failed"
    task_run.cancel(bureau.app(), bureau.now(run), "")
    assert processes.marked(run.id) == []


TRIES = """\
for place in .git/config .git/hooks/post-commit ../outside "$HOME/outside"; do
  (echo x >>"$place") 2>/dev/null && echo "wrote $place"
done
echo index >index.txt; echo "50% Wait" >>"$GHP_PROGRESS"
env -u GHP_RUN setsid sleep 1234 >/dev/null 2>&1 &
echo x >.git/ghp/runs/new 2>&1 || echo "kept out"
"""


@boxes.works
@pytest.mark.slow
def test_a_task_in_a_box_writes_its_worktree_and_nothing_outside(bureau: Bureau) -> None:
    bureau.environ |= boxes.ENV
    config = (bureau.repo / ".git/config").read_bytes()
    run = bureau.ended(bureau.start(TRIES))
    assert (run.outcome, run.why) == ("finished", "kept out")
    ws = bureau.app().ws
    assert (bureau.repo / "index.txt").read_text() == "index\n"
    assert (bureau.repo / ".git/config").read_bytes() == config
    outside = (bureau.repo.parent, Path(ws.environ["HOME"]))
    assert [place for place in outside if (place / "outside").exists()] == []
    assert task_run.steps_of(ws, run)[0].percent == 50
    homes = Path(f"{ws.spare_dir}{HOMES}")
    assert [*homes.iterdir()] == []
    shown = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert "sleep 1234" not in shown.stdout.splitlines()
    bureau.environ["GHP_FINISH_LATER"] = "file"
    with pytest.raises(RefusedError, match="This run is in a sandbox"):
        bureau.start("true")


def test_an_agent_starts_only_what_a_person_has_allowed(bureau: Bureau) -> None:
    task = TaskFile("other", run="true")
    with pytest.raises(RefusedError, match="worker-1 may not start the task other"):
        task_run.start(bureau.app("worker-1").ws, task, [], lead)
    assert folder.read_all(bureau.app().ws) == []


@pytest.mark.slow
def test_a_client_gets_the_prompt_and_a_name_of_its_own(bureau: Bureau) -> None:
    runner = """sh -c 'echo "$GHP_AGENT: $(cat $0)"' {prompt_file}"""
    task = TaskFile("ask", runner=runner, prompt="Look at $1.")
    run = bureau.ended(bureau.begin(task, "docs"))
    assert run.why == f"ask-{run.id[:4]}: Look at docs."


PERMISSIONS = b"""---
runner: codex
model: small
permissions:
  - tool: write_file
    scope: docs/**
---
Look.
"""


@pytest.mark.slow
def test_a_client_is_held_to_the_permissions_of_its_task(bureau: Bureau, tmp_path: Path) -> None:
    codex = tmp_path / "bin/codex"
    codex.parent.mkdir()
    codex.write_text('#!/bin/sh\ntest -f "$GHP_RIGHTS" && echo "$*" | grep -o -e "--model small"\n')
    codex.chmod(0o755)
    bureau.environ["PATH"] = f"{codex.parent}:{os.environ['PATH']}"
    run = bureau.ended(bureau.begin(parse("ask", PERMISSIONS)))
    assert run.outcome == "finished"
    assert run.why == "--model small"
    document = json.loads((folder.of(bureau.app().ws, run.id) / "rights.json").read_text())
    assert (document["card"], document["run"]) == (".ghp/tasks/ask.md", None)
    with pytest.raises(RefusedError, match="cannot enforce the permissions"):
        bureau.begin(parse("ask", PERMISSIONS.replace(b"codex", b"aider")))
    with pytest.raises(ValueError, match="are for a prompt"):
        parse("ask", PERMISSIONS.replace(b"runner: codex", b"run: make"))


@pytest.mark.slow
def test_a_task_is_led_once(bureau: Bureau) -> None:
    run = bureau.ended(bureau.start("true"))
    with pytest.raises(RefusedError):
        task_run.lead(bureau.app(), run)


def test_steps_are_reported_and_summed_up(tmp_path: Path) -> None:
    task_run.report(tmp_path / "steps", "Read\nall", 45)
    task_run.report(tmp_path / "steps", "Write", None)
    assert (tmp_path / "steps").read_text() == "45% Read all\nWrite\n"
    done, now = TaskStep("Read", "done"), TaskStep("Write", "running", 45)
    assert task_run.summary([]) == ""
    assert task_run.summary([done, now, TaskStep("Go", "pending")]) == "2 of 3: Write 45%"
    assert task_run.summary([done]) == "1 of 1 step"


@pytest.mark.slow
def test_orders_that_cannot_be_read_fail(bureau: Bureau) -> None:
    run = bureau.ended(bureau.start("true"))
    path = folder.of(bureau.app().ws, run.id) / task_run.COMMAND
    for text in ("{", json.dumps({"command": "rm"}), "[]"):
        path.write_text(text)
        assert task_run.orders_of(bureau.app().ws, run).command == ("false",)
