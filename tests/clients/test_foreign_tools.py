"""Real clients with a real tool server for files: its tools are asked like the client's own."""

import json
import sys
from pathlib import Path

import pytest

from tests.clients.steps import OTHER, run, set_up, start
from tests.support import outside
from tests.support.clients import Bench, end
from tests.support.fake_models import Call, Turn
from tests.support.git import commit
from tools import hook_programs

pytestmark = pytest.mark.slow

NAMES = {
    "claude": "mcp__{}__{}",
    "codex": "mcp__{}__{}",
    "copilot": "{}-{}",
    "gemini": "mcp_{}_{}",
    "opencode": "{}_{}",
}
# A server with one tool, which takes a path and a content as GitHub's does.
HUB = """\
import json, sys
keys = ("owner", "repo", "path", "content")
schema = {"type": "object", "properties": {key: {"type": "string"} for key in keys}}
tool = {"name": "create_or_update_file", "description": "Commit", "inputSchema": schema}
for line in sys.stdin:
    asked = json.loads(line)
    params = asked.get("params", {})
    answers = {
        "initialize": {
            "protocolVersion": params.get("protocolVersion"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "hub", "version": "1"},
        },
        "tools/list": {"tools": [tool]},
        "tools/call": {"content": [{"type": "text", "text": "Committed it"}]},
    }
    if "id" in asked:
        result = answers.get(asked["method"], {})
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def configure(bench: Bench, repo: Path, client: str, servers: dict[str, list[str]]) -> None:
    """Name the servers in the file of a client that its user trusts."""
    entries = {name: {"command": words[0], "args": words[1:]} for name, words in servers.items()}
    if client == "claude":
        (repo / "tools.json").write_text(json.dumps({"mcpServers": entries}))
    elif client == "codex":
        config = bench.home / ".codex/config.toml"
        tables = [
            f'[mcp_servers.{name}]\ncommand = "{words[0]}"\nargs = {json.dumps(words[1:])}'
            for name, words in servers.items()
        ]
        config.write_text("\n".join([config.read_text(), *tables, ""]))
    elif client == "copilot":
        kind = {"type": "local", "tools": ["*"]}
        file = bench.home / ".copilot/mcp-config.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps({"mcpServers": {x: y | kind for x, y in entries.items()}}))
    elif client == "gemini":
        file = repo / ".gemini/settings.json"
        servers_of = {name: each | {"trust": True} for name, each in entries.items()}
        file.write_text(json.dumps(json.loads(file.read_text()) | {"mcpServers": servers_of}))
    else:
        local = {name: {"type": "local", "command": words} for name, words in servers.items()}
        (repo / "opencode.json").write_text(json.dumps({"mcp": local}))


@pytest.mark.parametrize("client", NAMES)
def test_tools_of_a_server_do_not_change_a_leased_file(
    bench: Bench, repo: Path, client: str
) -> None:
    filesystem = outside.need("a tool server for files", hook_programs.filesystem)
    commit(repo, {"held.txt": "old\n", "free.txt": "old\n"}, "Files")
    set_up(bench, repo, client)
    run("agent-lease", "held.txt", cwd=repo, env=OTHER)
    hub = [sys.executable, "-c", HUB]
    configure(bench, repo, client, {"fs": [*filesystem, str(repo)], "hub": hub})
    held, free = str(repo / "held.txt"), str(repo / "free.txt")

    def tool(name: str, *, server: str = "fs", **given: object) -> Call:
        return Call(NAMES[client].format(server, name), given)

    refused = [
        tool("write_file", path=held, content="mine\n"),
        tool("edit_file", path=held, edits=[{"oldText": "old", "newText": "mine"}]),
        tool("move_file", source=held, destination=str(repo / "moved.txt")),
        tool("move_file", source=free, destination=held),
    ]
    remote = {"owner": "o", "repo": "r", "path": "held.txt", "content": "x"}
    allowed = [
        tool("create_or_update_file", server="hub", **remote),
        tool("write_file", path=free, content="mine\n"),
    ]
    bench.models.script("one", *(Turn(calls=[x]) for x in (*refused, *allowed)), Turn("Done."))
    if client == "claude":
        files = ("--mcp-config", "tools.json", "--strict-mcp-config")
        names = sorted({call.tool for call in (*refused, *allowed)})
        ended = end(bench.claude(repo, "one", *files, allowed=names))
    else:
        ended = end(start(bench, client, repo, "one"))
    assert ended.code == 0, ended.err
    said = bench.models.requests("one")[-1].said
    assert said.count("held.txt is leased by worker-2") == len(refused), said[-3000:]
    assert (repo / "held.txt").read_text() == "old\n"
    assert (repo / "free.txt").read_text() == "mine\n"
    assert "Committed it" in said
