"""A real session of Claude Code that waits for its person is shown waiting, without a hook."""

import os
from pathlib import Path

import pytest

from ghp_agents.presence.claude_sessions import waits
from ghp_agents.workspace import open_workspace
from tests.clients.steps import run, states
from tests.support.clients import Bench
from tests.support.fake_models import Call, Turn

pytestmark = pytest.mark.slow


def test_a_session_at_a_permission_prompt_says_what_it_waits_for(bench: Bench, repo: Path) -> None:
    run("agent-init", "--agent", "worker-1", "--hooks", "claude", cwd=repo)
    asks = Call("Bash", {"command": "python3 made.py", "description": "Make it"})
    bench.models.script("one", Turn("", (asks,)), Turn("I stop."))
    with bench.claude_at_a_terminal(repo, "one") as screen:
        screen.wait_for("accept edits")
        screen.type("Make")
        screen.wait_for("Make")
        screen.type("\r")
        screen.wait_for("Do you want to proceed?")
        path = f"{Path(bench.command('claude')[0]).parent}:{os.environ['PATH']}"
        found = waits(open_workspace(repo, {**os.environ, "PATH": path}))
        session = states(repo)["worker-1"]["session"]
    assert found == {session: "permission prompt"}
