"""Messages beside MCP Agent Mail, in one run: `python -m bench.mail PYTHON`.

PYTHON is that of an environment with `mcp-agent-mail`. Both are called inside processes, as their
servers do it: each sends messages, reads an inbox, and claims what only one may have. That is a
request to a group here, and a file reservation there. One process, then eight at once, in one
project. Theirs end after `LIMIT_S` seconds at most; an error of a call counts as not granted."""

import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.place import Place, temporary

COUNT, CROWD = 20, 8
Found = dict[str, Any]
LIMIT_S = 300.0  # seconds for all processes of one side, from their start
OURS = """
import json, os, sys, time
from pathlib import Path
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import AgentName
from ghp_agents.messages import reply, service
from ghp_agents.messages.service import Draft
from ghp_agents.presence import service as presence
from ghp_agents.wiring import App
name, count, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
def app():
    return App(folder, dict(os.environ), name=name)
def send(number, to="worker-0", kind="note"):
    return service.send(app(), Draft((to,), f"{name} {number}", "Look at it.", kind)).message.id
def inbox(number):
    it = app()
    service.inbox(it, it.store.snapshot(), AgentName("worker-0"))
def claim(number):
    try:
        reply.claim(app(), asked[number])
        return True
    except GhpError:
        return False
presence.register(app().ws, app().store, AgentName(name))
def main(run):
    global asked
    send("warm"), inbox(0)
    print("ready", flush=True)
    asked = json.loads(sys.stdin.readline()) or [send(n, "@all", "request") for n in range(count)]
    run("send", send), run("inbox", inbox)
    won = run("claim", claim)
    print(json.dumps({"times": times, "won": won, "asked": asked}), flush=True)
times = {}
def run(what, act):
    done = []
    for number in range(count):
        started = time.perf_counter()
        done.append(act(number))
        times.setdefault(what, []).append(time.perf_counter() - started)
    return [bool(each) for each in done]
main(run)
"""
THEIRS = """
import asyncio, json, os, sys, time
name, count, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
from fastmcp import Client
from fastmcp.exceptions import ToolError
from mcp_agent_mail.app import build_mcp_server
NAMES = ["BlueLake", "RedStone", "GreenCastle", "PurpleBear", "BlackDog", "WhiteMountain",
         "OrangeCreek", "PinkHill"]
me = NAMES[int(name.rpartition("-")[2]) % 8]
async def main():
    times, won, errors = {}, [], []
    async with Client(build_mcp_server()) as client:
        async def call(tool, **fields):
            return (await client.call_tool(tool, {"project_key": folder, **fields})).data
        await client.call_tool("ensure_project", {"human_key": folder})
        mine = await call("register_agent", program="bench", model="none", name=me)
        name = mine["name"]
        tools = await client.list_tools()
        size = len(json.dumps([x.model_dump(exclude_none=True, mode="json") for x in tools]))
        async def send(number):
            return await call("send_message", sender_name=name, to=[name],
                              subject=f"{name} {number}", body_md="Look at it.")
        async def inbox(number):
            return await call("fetch_inbox", agent_name=name)
        async def claim(number):
            what = {"project_key": folder, "agent_name": name, "paths": [f"part-{number}.py"]}
            words = {"tool_name": "file_reservation_paths", "arguments": what}
            try:
                got = await client.call_tool("call_extended_tool", words)
            except ToolError as error:
                errors.append(str(error))
                return False
            return '"granted":[{' in got.content[0].text.replace(" ", "")
        await send("warm")
        print("ready", flush=True)
        sys.stdin.readline()
        for what, act in (("send", send), ("inbox", inbox), ("claim", claim)):
            for number in range(count):
                started = time.perf_counter()
                done = await act(number)
                times.setdefault(what, []).append(time.perf_counter() - started)
                if what == "claim":
                    won.append(done)
    print(json.dumps({"times": times, "won": won, "errors": errors, "tools": len(tools),
                      "schema": size}), flush=True)
asyncio.run(main())
"""


def main() -> int:
    """Measure both, and print a table."""
    theirs = sys.argv[1]
    print("what | processes | median ms | worst ms | each second | claims granted of 20 things")
    with temporary(quick=False) as place:
        for number in (1, CROWD):
            folder = place.repository("mail")
            found = _together([sys.executable, "-c", OURS], number, folder, place, first=True)
            _print("ghp-agents", number, found)
            found = _together([theirs, "-c", THEIRS], number, place.new("project"), place)
            _print("MCP Agent Mail", number, found)
        print(f"their schema: {found[0]['schema']} characters in {found[0]['tools']} tools")
    return 0


def _together(
    command: Sequence[str], number: int, folder: Path, place: Place, *, first: bool = False
) -> list[Found]:
    """What each of the processes measured; with `first`, the first alone makes the requests."""
    root = place.new("mail")
    env = {
        **os.environ, "DATABASE_URL": f"sqlite+aiosqlite:///{root}/mail.sqlite3",
        "STORAGE_ROOT": str(root / "store"), "LLM_ENABLED": "false", "PYTHONPATH": str(Path.cwd()),
        "GIT_AUTHOR_NAME": "Bench", "TOOLS_LOG_ENABLED": "false", "LOG_RICH_ENABLED": "false",
        "FASTMCP_LOG_LEVEL": "ERROR",
    }  # fmt: skip
    asked = _asked(folder) if first else []
    running, began = [], time.monotonic()
    for index in range(number):
        words = [*command, f"worker-{index}", str(COUNT), str(folder)]
        running.append(subprocess.Popen(
            words, env=env, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        ))  # fmt: skip
    alarm = threading.Timer(LIMIT_S, _kill, [running])
    alarm.start()
    for process in running:
        assert process.stdout
        while (line := process.stdout.readline()).strip() != "ready":
            if not line:
                raise RuntimeError(f"{command[0]} ended with {process.wait()}")
    print(f"  {number} ready after {time.monotonic() - began:.0f} s", flush=True)
    for process in running:
        assert process.stdin
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
    outs = [process.communicate()[0] for process in running]
    alarm.cancel()
    print(f"  all ended after {time.monotonic() - began:.0f} s", flush=True)
    ended = [json.loads(out.splitlines()[-1]) for out in outs if out]
    if not ended:
        raise RuntimeError(f"None of {number} processes ended within {LIMIT_S:g} s.")
    return ended


def _kill(running: "Sequence[subprocess.Popen[str]]") -> None:
    for process in running:
        process.kill()


def _asked(folder: Path) -> list[str]:
    """The ids of the requests to all that the processes claim."""
    from bench.place import open_app
    from ghp_agents.messages import service
    from ghp_agents.messages.service import Draft

    app = open_app(folder, "@me")
    drafts = [Draft(("@all",), f"Part {number}", kind="request") for number in range(COUNT)]
    return [service.send(app, draft).message.id for draft in drafts]


def _print(name: str, number: int, found: Sequence[Found]) -> None:
    for what in ("send", "inbox", "claim"):
        taken = [x for each in found for x in each["times"][what]]
        rate = len(found) * COUNT / max(sum(each["times"][what]) for each in found)
        won = sum(sum(each["won"]) for each in found) if what == "claim" else ""
        median, worst = statistics.median(taken) * 1000, max(taken) * 1000
        print(f"{name}: {what} | {number} | {median:.1f} | {worst:.1f} | {rate:.1f} | {won}")
    errors = [error for each in found for error in each.get("errors", ())]
    if errors or len(found) < number:
        print(f"  {len(found)} of {number} processes ended; {len(errors)} errors, such as")
        print(f"  {errors[0][:200] if errors else '-'}")


if __name__ == "__main__":
    sys.exit(main())
