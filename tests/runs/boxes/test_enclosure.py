"""Runs in a container: from the issue to the pull request, and nothing is left."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.runs import folder, processes, task_run
from ghp_agents.runs.boxes import box_paths, enclosure
from ghp_agents.runs.record import ENDED
from ghp_agents.runs.task import TaskFile
from ghp_agents.wiring import App
from tests.runs.test_task_run import lead
from tests.support.consent import mine
from tests.support.fake_container import IMAGE, FakeContainers
from tests.support.ghp import Result, run_ghp
from tests.support.git import git
from tests.support.runs import RUN, Shift, shift_of, states
from tests.support.waiting import until

WORKS = """
echo "$GHP_AGENT $HOME [$GH_TOKEN] [$OTHER] [$ANTHROPIC_API_KEY]"
echo new >new.txt; git add . && git commit -qm "Add a file"
ghp agent-finish 2>&1
"""


@pytest.fixture
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeContainers:
    containers = FakeContainers(tmp_path / "bin", tmp_path)
    containers.install("podman")
    values = {
        "PATH": f"{containers.programs}:{os.environ['PATH']}", "GHP_BACKGROUND": "0",
        "OTHER": "other", "GH_TOKEN": "secret-1234", "ANTHROPIC_API_KEY": "key-5678",
    }  # fmt: skip
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    return containers


@pytest.fixture
def shift(clone: Path, fakes: FakeContainers) -> Iterator[Shift]:
    """Its runs end while the programs are there."""
    assert fakes.left() == []
    fleet = shift_of(clone, "One")
    yield fleet
    fleet.end_all()


def work(shift: Shift, script: str, *options: str, **runs: Any) -> Result:
    """A supervisor from its beginning to its end."""
    mine({"agents": {"runs": {"sandbox": "container", "image": IMAGE, **runs}}})
    path = shift.repo / ".git/agent.sh"
    path.write_text(script)
    runner = f"sh {path} {{prompt_file}}"
    args = ["agent-work", "--agent", "night", "--once", "--tries", "1", "--runner", runner]
    return run_ghp([*args, *options], shift.repo)


@pytest.mark.slow
def test_a_run_in_a_container_becomes_a_pull_request(shift: Shift, fakes: FakeContainers) -> None:
    done = work(shift, WORKS, network="closed")
    assert done.code == 0, done.err
    assert states(shift.runs()) == [("night", 1, "finished")]
    ws, run = shift.app().ws, shift.last()
    home, place = enclosure.home(ws, run), folder.of(ws, run.id)
    assert run_ghp("agent-logs night", shift.repo).out.splitlines()[:2] == [
        f"night {home} [] [] [key-5678]",
        "✓ agent/night/1-one is checked. `ghp agent-work` sends it when this run has ended.",
    ]
    assert git(shift.repo, "ls-remote", "origin", "refs/heads/agent/night/1-one")
    (call,) = fakes.calls()
    assert call[call.index("--network") + 1] == "closed"
    assert not any("secret-1234" in word or "key-5678" in word for word in call)
    mounts = [call[n + 1].split(",") for n in range(len(call)) if call[n] == "--mount"]
    sources = {Path(mount[1].removeprefix("source=")): mount[3:] for mount in mounts}
    paths = box_paths.of(Path(run.path), ws.common_dir, run.branch, place)
    assert {path for path, limits in sources.items() if not limits} == {
        *box_paths.writable_paths(paths), home,
        *(place / name for name in ("refused", "finish.json", "transcript.jsonl")),
    }  # fmt: skip
    read_only = {ws.common_dir, *paths.locked}
    assert {path for path, limits in sources.items() if limits == ["readonly"]} == read_only
    assert not home.is_relative_to(ws.common_dir)
    assert fakes.left() == []


@pytest.mark.slow
def test_a_run_that_is_ended_leaves_no_container(shift: Shift, fakes: FakeContainers) -> None:
    """The program that started it is killed; the container would go on."""
    done = work(shift, "echo on; sleep 1000", "--time", "1s")
    assert done.code == 1
    (run,) = shift.runs()
    assert run.why == "it took longer than 1 s"
    assert fakes.calls("rm")[-1][-1] == f"ghp-run-{run.id}"
    assert fakes.left() == []
    assert processes.marked(run.id) == []


@pytest.mark.slow
def test_a_task_is_in_a_container_too(shift: Shift, fakes: FakeContainers) -> None:
    mine({"agents": {"runs": {"sandbox": "container", "image": IMAGE}}})
    ws = App(shift.repo, os.environ, name="@me").ws
    task = TaskFile("t", run='echo "50% Go" >>"$GHP_PROGRESS"; echo "[$GH_TOKEN] $HOME"')
    started = task_run.start(ws, task, [], lead)
    until(lambda: shift.last().state == ENDED and not fakes.left())
    run, home = shift.last(), enclosure.home(ws, started.run)
    assert (run.outcome, run.why, run.container) == ("finished", f"[] {home}", "podman")
    assert [step.percent for step in task_run.steps_of(ws, run)] == [50]
    assert started.unboxed == ""
    until(lambda: started.child.poll() is not None)


def test_what_is_no_program_for_containers_is_never_called(
    shift: Shift, fakes: FakeContainers
) -> None:
    """An agent may have written the record of a run."""
    processes.end(RUN._replace(container=str(fakes.programs / "podman")), shift.clock.wait)
    assert fakes.calls("rm") == []
