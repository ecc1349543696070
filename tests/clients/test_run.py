"""`agent-start --run claude`: one command starts a guarded session of the real client."""

import json
import os
import queue
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.steps import OTHER, run, states
from tests.support.clients import TIMEOUT_S, Bench, ghp
from tests.support.fake_models import Call, Request, Turn
from tests.support.terminal import terminal

pytestmark = pytest.mark.slow

KEY = "one"
START = [sys.executable, "-m", "ghp_agents", "agent-start", "1", "--as", "worker-1"]


@pytest.fixture
def here(bench: Bench, repo: Path) -> Path:
    """A guarded repository with an issue; worker-2 has a lease. The user allows edits and Bash."""
    run("agent-init", "--hooks", "claude", cwd=repo)
    run("agent-issue", "new", "Parse", "--body", "Read tabs.", cwd=repo)
    run("agent-lease", "leased.py", cwd=repo, env=OTHER)
    bench.welcome_claude(KEY, worktree(bench))
    settings = {"permissions": {"defaultMode": "acceptEdits", "allow": ["Bash"]}}
    (bench.home / ".claude").mkdir()
    (bench.home / ".claude/settings.json").write_text(json.dumps(settings))
    return repo


def worktree(bench: Bench) -> Path:
    """Where the worktree of the issue will be; its user trusts it."""
    return bench.home / ".ghp/worktrees/repo/1-parse"


def environment(bench: Bench) -> dict[str, str]:
    """Claude Code is on PATH."""
    path = f"{Path(bench.command('claude')[0]).parent}{os.pathsep}{os.environ['PATH']}"
    return {**bench.claude_environment(KEY), "PATH": path}


def step(bench: Bench) -> Turn:
    """Write a leased file and a free one, and ask who this is."""
    paths = (worktree(bench) / name for name in ("leased.py", "free.py"))
    writes = [Call("Write", {"file_path": str(path), "content": "new\n"}) for path in paths]
    asks = Call("Bash", {"command": ghp("agent-whoami"), "description": "Ask who this is"})
    return Turn("", (*writes, asks))


@pytest.fixture
def tmux(bench: Bench, tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a tmux server of its own."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    (tmp_path / "tmux").mkdir()
    own = {**environment(bench), "TMUX_TMPDIR": str(tmp_path / "tmux"), "TMUX": ""}
    yield own
    subprocess.run(["tmux", "kill-server"], env=own, check=False, capture_output=True)


def test_at_a_terminal_it_knows_its_issue_and_its_name_and_is_guarded(
    bench: Bench, here: Path
) -> None:
    bench.models.script(KEY, step(bench), Turn("I stop."))
    with terminal([*START, "--run", "claude"], here, environment(bench)) as screen:
        screen.wait_for("I stop.")
    read = bench.models.said(KEY)
    for text in (
        "You are agent worker-1. Work in ",
        "# Resume: #1 «Parse»",
        "Read tabs.",
        "PreToolUse:Write hook error: leased.py is leased by worker-2 since ",
        f"File created successfully at: {worktree(bench) / 'free.py'}",
    ):
        assert text in read
    assert read.endswith("\nworker-1")
    assert [*worktree(bench).glob("*.py")] == [worktree(bench) / "free.py"]


def test_in_tmux_it_works_until_it_is_stopped(
    bench: Bench, here: Path, tmux: dict[str, str]
) -> None:
    began = queue.Queue[str]()

    def think(request: Request) -> Turn:
        began.put(request.said)
        return Turn("", (Call("Bash", {"command": "sleep 1000", "description": "Think"}),))

    bench.models.script(KEY, step(bench), think)
    subprocess.run([*START, "--run", "claude", "--tmux"], cwd=here, env=tmux, check=True)
    assert began.get(timeout=TIMEOUT_S).endswith("\nworker-1")
    assert shown(here) == ("planning", 1)
    run("agent-stop", "worker-1", "--now", "--reason", "Enough", "--as", "@me", cwd=here)
    assert shown(here) == ("stopped", None)
    assert "stored 1 file" in run("agent-resume", "--issue", "1", cwd=here)


def shown(repo: Path) -> tuple[str, int | None]:
    """The status and the issue of worker-1."""
    state = states(repo)["worker-1"]
    return state["status"], state["issue"]
