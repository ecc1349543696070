"""`make demo-night`: the night shift, with Claude Code and Codex among its agents.

The clients are real, pinned by `tools.clients`. Their model is scripted: in each run it calls the
shell once, for what the script of the night does. Without npm a script plays all four agents.
"""

import contextlib
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ghp_agents.cli import demo, output
from ghp_agents.demo.night import PLAY, PLAY_COMMAND, SCRIPTED, Crew
from ghp_agents.demo.sandbox import Sandbox
from tests.support.clients import Bench
from tests.support.fake_models import Call, FakeModels, Request, Turn, serve
from tools import clients

ANSWERS = 200  # of the model in one night; it needs about 40
LATER_MS = 30_000  # that Codex waits for a command before it asks the model
_GOES_ON = re.compile(r"session ID (\d+)")
Command = Callable[[str], Sequence[str]]


def crews(place: Sandbox, models: FakeModels, command: Command) -> list[Crew]:
    """Claude Code, Codex, and two scripted agents. `command` gives a client's command."""
    home = place.root / "home"
    bench = Bench(command, models, home)
    models.script("claude", *[_claude] * ANSWERS)
    models.script("codex", *[_codex] * ANSWERS)
    free = ("-c", "sandbox_mode=danger-full-access", "-c", "approval_policy=never")
    return [
        Crew(
            "claude", 1, ("--runner", "claude", "--", "--allowedTools=Bash"),
            _own(place, bench.command("claude"), bench.claude_environment("claude")),
        ),
        Crew(
            "codex", 1, ("--runner", "codex", "--keep-env", "FAKE_KEY", "--", *free),
            _own(place, bench.command("codex"), bench.codex_environment("codex")),
        ),
        Crew(PLAY, 2, SCRIPTED),
    ]  # fmt: skip


def _own(place: Sandbox, command: Sequence[str], environ: dict[str, str]) -> dict[str, str]:
    """What only this client needs in its environment."""
    names = [name for name in environ if name.startswith(("ANTHROPIC_", "CLAUDE_CODE_", "FAKE_"))]
    path = f"{Path(command[0]).parent}:{place.environ()['PATH']}"
    return {"PATH": path, "DISABLE_AUTOUPDATER": "1", **{name: environ[name] for name in names}}


def _claude(request: Request) -> Turn:
    blocks = request.body["messages"][-1]["content"]
    if isinstance(blocks, list) and any(each["type"] == "tool_result" for each in blocks):
        return Turn("That is all.")
    call = {"command": shlex.join(PLAY_COMMAND), "description": "Do the job", "timeout": 600_000}
    return Turn("I do the job.", (Call("Bash", call),))


def _codex(request: Request) -> Turn:
    last: dict[str, Any] = request.body["input"][-1]
    if last.get("type") != "function_call_output":
        call = {"cmd": shlex.join(PLAY_COMMAND), "yield_time_ms": LATER_MS}
        return Turn("I do the job.", (Call("exec_command", call),))
    found = _GOES_ON.search(str(last.get("output")))
    if found is None:
        return Turn("That is all.")
    more = {"session_id": int(found[1]), "chars": "", "yield_time_ms": LATER_MS}
    return Turn("", (Call("write_stdin", more),))


def main() -> int:
    """Show the night; returns the exit code."""
    try:
        for name in ("claude", "codex"):
            clients.ready(name)
    except (clients.UnreachableError, clients.BrokenError) as error:
        output.say(f"A script plays all agents: {error}")
        return demo.show(demo.perform_night, all_checks=True)
    with contextlib.ExitStack() as held:
        models = held.enter_context(serve())
        made = partial(crews, models=models, command=clients.ready)
        return demo.show(partial(demo.perform_night, crews=made), all_checks=True)


if __name__ == "__main__":
    sys.exit(main())
