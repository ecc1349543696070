"""The official client of the tool server, in a conversation with `ghp agent-mcp`."""

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tests.support.ghp import CHECKOUT

Talk = Callable[[Any], Awaitable[None]]


def with_server(repo: Path, talk: Talk, **environ: str) -> None:
    """A conversation of the official client with `ghp agent-mcp` in a repository."""
    import anyio
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "ghp_agents", "agent-mcp"],
        cwd=repo,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), **environ},
    )

    async def converse() -> None:
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            await talk(session)

    anyio.run(converse)


async def called(session: Any, name: str, **given: Any) -> tuple[bool, str]:
    """Whether a call failed, and its text."""
    result = await session.call_tool(name, given)
    (content,) = result.content
    return bool(result.is_error), content.text
