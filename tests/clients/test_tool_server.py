"""Real Claude Code with our tool server: the model uses the tools, in its session's own name."""

import json
import sys
from pathlib import Path

import pytest

from tests.clients.steps import run, set_up
from tests.support.clients import Bench, end
from tests.support.fake_models import Call, Turn
from tests.support.ghp import CHECKOUT

pytestmark = pytest.mark.slow
pytest.importorskip("mcp", reason="the tool server needs the extra mcp")

TOOLS = ("status", "claim", "send", "inbox")


@pytest.fixture
def here(bench: Bench, repo: Path) -> Path:
    """A hooked repository with an issue, and a file that names our tool server."""
    set_up(bench, repo, "claude")
    run("agent-issue", "new", "Parse the input", cwd=repo)
    server = {
        "command": sys.executable,
        "args": ["-m", "ghp_agents", "agent-mcp"],
        "env": {"PYTHONPATH": str(CHECKOUT)},
    }
    (repo / "tools.json").write_text(json.dumps({"mcpServers": {"ghp": server}}))
    return repo


def tool(name: str, **given: object) -> Call:
    return Call(f"mcp__ghp__{name}", given)


def test_a_model_claims_and_sends_with_tools_as_the_agent_of_its_session(
    bench: Bench, here: Path
) -> None:
    bench.models.script(
        "one",
        Turn("I claim.", [tool("claim", number=1)]),
        Turn("I tell.", [tool("send", to=["worker-2"], subject="I have #1", kind="note")]),
        Turn("I look.", [tool("claim", number=99)]),
        Turn("Done."),
    )
    allowed = [f"mcp__ghp__{name}" for name in TOOLS]
    ended = end(
        bench.claude(here, "one", "--mcp-config", "tools.json", "--strict-mcp-config",
                     allowed=allowed)
    )  # fmt: skip
    assert ended.code == 0, ended.err
    requests = bench.models.requests("one")
    assert "Claimed #1" in requests[1].said
    assert "to worker-2: I have #1" in requests[2].said
    assert "Error: There is no issue 99." in requests[3].said
    issue = json.loads(run("agent-issue", "show", "1", "--json", cwd=here))
    assert issue["assignees"] == ["worker-1"]
    (letter,) = json.loads(run("agent-inbox", "--json", cwd=here, env={"GHP_AGENT": "worker-2"}))
    assert (letter["sender"], letter["person"]) == ("worker-1", False)
