"""The segment in Claude Code's status line, on a real screen."""

import json
from pathlib import Path

import pytest

from tests.clients.steps import run
from tests.support.clients import Bench
from tests.support.ghp import invoke

pytestmark = pytest.mark.slow


def test_the_screen_shows_which_agent_this_is_and_what_the_user_had_there(
    bench: Bench, repo: Path
) -> None:
    (bench.home / ".claude").mkdir()
    own = {"statusLine": {"type": "command", "command": "echo my own line"}}
    (bench.home / ".claude/settings.json").write_text(json.dumps(own))
    run("agent-init", "--agent", "worker-1", "--hooks", "claude", cwd=repo)
    run("agent-issue", "new", "Parse tabs", cwd=repo)
    run("agent-claim", "1", cwd=repo)
    with bench.claude_at_a_terminal(repo, "one") as screen:
        screen.wait_for("my own line · worker-1 · #1 planning")


def test_the_status_line_is_removed_with_the_hooks(bench: Bench, repo: Path) -> None:
    run("agent-init", "--agent", "worker-1", "--hooks", "claude", cwd=repo)
    run("agent-init", "--hooks", "claude", "--remove", cwd=repo)
    left = [*(repo / ".claude").glob("*")] if (repo / ".claude").exists() else []
    assert left == []
    assert invoke("agent-status", repo).code == 0
