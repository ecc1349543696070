"""Real clients with our tool server: the model uses the tools, in its session's own name."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.steps import run, set_up
from tests.support import outside
from tests.support.clients import TIMEOUT_S, Bench, end
from tests.support.fake_models import Call, Turn
from tests.support.ghp import CHECKOUT

pytestmark = pytest.mark.slow
outside.need_module("mcp", "the tool server needs the extra mcp")

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


def test_the_tools_come_with_what_agent_init_wrote(bench: Bench, repo: Path) -> None:
    set_up(bench, repo, "claude")
    run("agent-init", "--mcp", "claude", cwd=repo)
    settings = repo / ".claude/settings.local.json"
    approved = json.loads(settings.read_text()) | {"enabledMcpjsonServers": ["ghp"]}
    settings.write_text(json.dumps(approved))
    run("agent-issue", "new", "Parse the input", cwd=repo)
    bench.models.script("one", Turn("I claim.", [tool("claim", number=1)]), Turn("Done."))
    ended = end(bench.claude(repo, "one", allowed=["mcp__ghp__claim"]))
    assert ended.code == 0, ended.err
    assert "Claimed #1" in bench.models.requests("one")[1].said


LISTED = {
    "claude": "✔ Connected",
    "codex": "enabled",
    "copilot": "ghp (local)",
    "gemini": "✓ ghp",
    "opencode": "✓ ghp",
    "qwen": "Connected",
}


@pytest.mark.parametrize("client", LISTED)
def test_each_client_lists_the_server_in_a_folder_that_its_user_trusts(
    bench: Bench, repo: Path, client: str
) -> None:
    run("agent-init", "--mcp", client, cwd=repo)
    trust = {
        ".copilot/config.json": {"trustedFolders": ["/"]},
        ".gemini/trustedFolders.json": {str(repo): "TRUST_FOLDER"},
        ".claude/settings.json": {"enabledMcpjsonServers": ["ghp"]},
    }
    for name, content in trust.items():
        (bench.home / name).parent.mkdir(exist_ok=True)
        (bench.home / name).write_text(json.dumps(content))
    bench.trust_project(repo)
    done = subprocess.run(
        [*bench.command(client), "mcp", "list"],
        cwd=repo, env={**os.environ, "PWD": str(repo), "NO_COLOR": "1"}, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=TIMEOUT_S,
    )  # fmt: skip
    assert LISTED[client] in done.stdout
