"""The beginning of a run: what is on disk before the client starts, and what the client gets."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from ghp_agents.cards.card import AgentCard
from ghp_agents.hotpath import alive
from ghp_agents.presence import client_process
from ghp_agents.runs import folder, launch, processes, runners
from ghp_agents.runs.launch import Launched, RunCommand
from ghp_agents.runs.record import ENDED, FAILED, RUNNING, RunRecord
from ghp_agents.wiring import App
from tests.support.git import git
from tests.support.runs import STAYS, Shift, ended


def begin(shift: Shift, script: str, before: RunRecord | None = None) -> Launched:
    path = shift.repo.parent / "agent.sh"
    path.write_text(script)
    command = RunCommand(runners.find(f"sh {path} {{prompt_file}}"))

    def make(at: Path, name: str) -> App:
        return shift.app(name, at)

    ws = shift.app("worker-1").ws
    started = launch.prepare(make, ws, "worker-1", 1, ())
    return launch.launch(make, ws, command, started, before)


@pytest.mark.slow
def test_the_client_works_in_the_worktree_as_the_agent(
    shift: Shift, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GH_TOKEN", "secret-1234")
    launched = begin(shift, 'pwd; echo "$GHP_AGENT $GHP_RUN [$GH_TOKEN]"; head -c 20 "$1"')
    ended(folder.of(shift.app().ws, launched.run.id))
    log = folder.of(shift.app().ws, launched.run.id) / "log"
    assert log.read_text() == (
        f"{launched.run.path}\nworker-1 {launched.run.id} []\nYou are agent worker"
    )
    assert launched.child
    launched.child.kill()


def test_what_a_client_keeps_in_its_worktree_is_no_work(shift: Shift) -> None:
    """It is hidden before the run begins: in a sandbox the run cannot do that."""
    for runner in ("aider", "claude"):
        launch.hide_traces(shift.app().ws, runner)
    (shift.repo / ".aider.chat.history.md").touch()
    (shift.repo / "other.md").touch()
    assert git(shift.repo, "status", "--porcelain") == "?? other.md"


@pytest.mark.slow
def test_the_agent_lives_as_long_as_its_client(shift: Shift) -> None:
    launched = begin(shift, STAYS)
    ws = shift.app().ws
    assert launched.run.state == RUNNING
    assert folder.read_all(ws) == [launched.run]
    assert alive.process_lives(ws.presence("worker-1") or {}) is True
    assert launched.child
    assert client_process.end(ws, "worker-1") is True  # as `agent-stop --now` does
    launched.child.kill()
    assert alive.process_lives(ws.presence("worker-1") or {}) is False
    launch.rest(ws, "worker-1")
    assert alive.process_lives(ws.presence("worker-1") or {}) is True


@pytest.mark.slow
def test_what_cannot_start_is_a_failed_run(shift: Shift, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(8, "Exec format error")

    monkeypatch.setattr(processes, "start", refuse)
    launched = begin(shift, STAYS)
    assert (launched.child, launched.run.state, launched.run.outcome) == (None, ENDED, FAILED)
    assert launched.run.why == "cannot start: Exec format error"
    assert launched.run.ended == launched.run.seconds  # the next one waits


@pytest.mark.slow
def test_failures_in_a_row_are_carried_on(shift: Shift) -> None:
    first = begin(shift, "exit 1")
    ended = first.run._replace(state=ENDED, outcome=FAILED, why="it fell")
    second = begin(shift, "exit 1", ended)
    assert second.run.tries == 1
    prompt = folder.of(shift.app().ws, second.run.id) / "prompt.md"
    assert "That run ended: «it fell»." in prompt.read_text()
    for launched in (first, second):
        assert launched.child
        launched.child.kill()


@pytest.mark.skipif(not shutil.which("script"), reason="`script` of util-linux is not installed")
def test_git_opens_nothing_that_runs_what_is_typed(shift: Shift, tmp_path: Path) -> None:
    """Whatever pager and editor the person has configured."""
    for key in ("core.pager", "core.editor", "sequence.editor"):
        git(shift.repo, "config", key, f"touch {tmp_path}/opened; cat")
    ws = shift.app("worker-1").ws
    card = AgentCard("worker-1", permissions=())
    rules = launch.write_rules(ws, card, "codex", tmp_path, str(shift.repo))
    assert rules
    opened = tmp_path / "opened"
    at_terminal("git log", shift.repo, {})
    assert opened.exists()  # without our variables
    opened.unlink()
    for command in ("git log", "git show", "git diff", "git commit --allow-empty"):
        at_terminal(command, shift.repo, rules.env)
    assert not opened.exists()


def at_terminal(command: str, folder: Path, more: Mapping[str, str]) -> None:
    words = ["script", "-qec", command, "/dev/null"]
    env = {**os.environ, **more}
    subprocess.run(words, cwd=folder, env=env, timeout=20, capture_output=True, check=False)
