"""The tool server as a client meets it: the official client, over standard input and output."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.cli.mcp.tools import TOOLS
from tests.support import outside
from tests.support.ghp import CHECKOUT, invoke, succeed
from tests.support.git import commit
from tests.support.tool_server import called, with_server

outside.need_module("mcp", "the tool server needs the extra mcp")


@pytest.mark.slow
def test_the_official_client_sees_the_tools_and_uses_them(repo: Path) -> None:
    succeed(repo, "agent-issue new 'Parse the input'")

    async def talk(session: Any) -> None:
        listed = await session.list_tools()
        assert [tool.name for tool in listed.tools] == [*TOOLS]
        failed, text = await called(session, "claim", number=1)
        assert (failed, "Claimed #1" in text) == (False, True)
        failed, text = await called(session, "send", to=["worker-2"], subject="Hi")
        assert (failed, "to worker-2: Hi" in text) == (False, True)
        failed, text = await called(session, "status")
        assert (failed, "worker-1" in text) == (False, True)

    with_server(repo, talk, GHP_AGENT="worker-1")
    assert invoke("agent-inbox --as worker-2", repo).out.count("worker-1") == 1


@pytest.mark.slow
def test_an_error_is_a_result_that_the_model_reads(repo: Path) -> None:
    async def talk(session: Any) -> None:
        failed, text = await called(session, "issue", number=99)
        assert failed
        assert text.startswith("Error: There is no issue 99.")
        assert await called(session, "issue") == (
            True, "Error: The argument 'number' is missing. Give it.",
        )  # fmt: skip
        failed, text = await called(session, "remember", text="use gh" + "p_" + "aB3" * 12)
        assert (failed, "seems to contain a GitHub token" in text) == (True, True)

    with_server(repo, talk, GHP_AGENT="worker-1")


ODD = {"zero": rb"a \u0000 b", "half": rb"a \ud800 b", "byte": b"a \xff b"}


@pytest.mark.slow
def test_what_is_no_text_is_refused_in_words(repo: Path) -> None:
    begin = {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    }  # fmt: skip
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": begin}).encode()
    ]
    lines.append(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
    for name, text in ODD.items():
        lines.append(
            b'{"jsonrpc": "2.0", "id": "%s", "method": "tools/call", "params": '
            b'{"name": "remember", "arguments": {"text": "%s"}}}' % (name.encode(), text)
        )
    answers: dict[str, str] = {}
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "ghp_agents", "agent-mcp"], cwd=repo, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), "GHP_AGENT": "worker-1"},
    ) as server:  # fmt: skip
        assert server.stdin
        assert server.stdout
        assert server.stderr
        server.stdin.write(b"\n".join(lines) + b"\n")
        server.stdin.flush()
        while len(answers) <= len(ODD):
            answer = json.loads(server.stdout.readline())
            answers[answer["id"]] = json.dumps(answer["result"])
        server.stdin.close()
        assert server.stderr.read() == b""
    for name in ODD:
        assert "The argument 'text' has a character that is no text." in answers[name]


@pytest.mark.slow
def test_a_dash_as_text_leaves_the_protocol_alone(repo: Path) -> None:
    async def talk(session: Any) -> None:
        failed, _ = await called(session, "remember", text="-")
        assert failed
        failed, _ = await called(session, "status")
        assert not failed

    with_server(repo, talk, GHP_AGENT="worker-1")


@pytest.mark.slow
def test_a_client_that_goes_away_leaves_no_process_behind(repo: Path, tmp_path: Path) -> None:
    """A check that runs for minutes ends with the server, and so does what it started."""
    started = tmp_path / "started"
    checks = f'{{"agents": {{"checks": ["echo $$ > {started}; sleep 777"]}}}}'
    commit(repo, {".ghp/config.json": checks}, "Checks")
    succeed(repo, "agent-issue new 'Parse it'", "agent-trust --yes", "agent-start 1 --as worker-1")
    folder = Path(invoke("agent-where 1", repo).out.strip())
    commit(folder, {"a.py": "new\n"}, "Work")

    import anyio

    async def talk(session: Any) -> None:
        with anyio.move_on_after(60):
            async with anyio.create_task_group() as calls:
                calls.start_soon(called, session, "finish")
                while not (started.exists() and started.read_text().strip()):
                    await anyio.sleep(0.05)
                calls.cancel_scope.cancel()

    with_server(folder, talk, GHP_AGENT="worker-1")
    assert not is_running(int(started.read_text()))


def is_running(pid: int) -> bool:
    """Whether a process lives; one that ended and was not waited for does not."""
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
