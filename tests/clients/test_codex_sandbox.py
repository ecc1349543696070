"""Codex in its sandbox, as most people run it: what our commands may write there."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ghp_agents.integrations.clients import codex_config
from ghp_agents.workspace import open_workspace
from tests.clients.steps import set_up, shell, states
from tests.support import guard, repos
from tests.support.clients import Bench, end, ghp
from tests.support.clock import ManualClock
from tests.support.fake_models import Request, Turn

pytestmark = pytest.mark.slow

SANDBOX = ("--sandbox", "workspace-write")
# Neither temporary, which the sandbox lets everybody write, nor below /dev, which it replaces.
PLACE = Path("/var/tmp")


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home as people have it."""
    folder = Path(tempfile.mkdtemp(dir=PLACE))
    guard.furnish(folder)
    for name, value in guard.at_home(folder).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", os.defpath)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def repo(templates: repos.Templates, home: Path) -> Path:
    """A repository in that home."""
    return repos.copy_alone(templates, home / "repo")


@pytest.fixture
def commands(bench: Bench, repo: Path) -> Callable[[], str]:
    """A session in the sandbox that leases, asks, creates and claims; what it read."""
    tried = subprocess.run(
        [*bench.command("codex"), "sandbox", "true"], cwd=repo, capture_output=True, text=True
    )
    if tried.returncode:
        pytest.skip(f"Codex's sandbox does not run on this machine: {tried.stderr[-200:]}")
    set_up(bench, repo, "codex")

    def session() -> str:
        lines = [
            ghp("agent-lease", "src/"),
            ghp("agent-escalate", "'How wide is a tab?'"),
            ghp("agent-issue", "new", "Tabs"),
            ghp("agent-claim", "1"),
        ]
        steps = [Turn(calls=[shell("codex", f"{line}; echo code $?")]) for line in lines]
        bench.models.script("one", *steps, Turn("I stop."))
        ended = end(bench.codex(repo, "one", sandbox=SANDBOX))
        assert ended.code == 0, ended.err
        return bench.models.requests("one")[-1].said

    return session


def test_our_commands_fail_plainly_while_hooks_work(
    commands: Callable[[], str], repo: Path
) -> None:
    said = commands()
    assert said.count("Read-only file system") >= 3
    assert "\ncode 0" not in said
    assert states(repo)["worker-1"]["status"] == "stopped"  # by the hook at the end


@pytest.mark.usefixtures("commands")
def test_the_hook_carries_out_what_the_sandbox_stops(bench: Bench, repo: Path) -> None:
    lines = [
        ghp("agent-heartbeat", "--status", "testing"),
        ghp("agent-lease", "src/"),
        ghp("agent-escalate", "'How wide is a tab?'", "--as", "worker-1"),
    ]
    steps = [Turn(calls=[shell("codex", line)]) for line in lines]
    beats: list[str] = []

    def stop(_: Request) -> Turn:
        beats.append(states(repo)["worker-1"]["status"])
        return Turn("I stop.")

    bench.models.script("two", *steps, stop)
    ended = end(bench.codex(repo, "two", sandbox=SANDBOX))
    assert ended.code == 0, ended.err
    said = bench.models.requests("two")[-1].said
    assert "this session's hook ran it outside:\n✓ Leased src/" in said
    assert "this session's hook ran it outside:\n✓ Asked E-" in said
    assert beats == ["testing"]


def test_our_commands_work_where_agent_init_opened_its_folder(
    commands: Callable[[], str], repo: Path
) -> None:
    for step in codex_config.to_open(open_workspace(repo, os.environ, ManualClock()), [repo]):
        step.act()
    said = commands()
    assert said.count("\ncode 0") == 4, said[-3000:]
    assert states(repo)["worker-1"]["issue"] == 1
