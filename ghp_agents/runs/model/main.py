"""`python -m ghp_agents.runs.model.main`: our client for endpoints in OpenAI's format.

`agent-work --runner openai` starts it like any other client. It works in the current folder, keeps
the conversation beside the prompt's file, and prints JSON lines.
"""

import argparse
import os
import re
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from ghp_agents.core.clock import SystemClock
from ghp_agents.core.errors import GhpError, NotSetUpError, UsageError
from ghp_agents.runs.model import transcript
from ghp_agents.runs.model.answer import ModelAnswer
from ghp_agents.runs.model.endpoint import OLLAMA, Endpoint
from ghp_agents.runs.model.hook import ModelHook
from ghp_agents.runs.model.loop import SYSTEM, LoopEnd, ModelLoop
from ghp_agents.runs.model.printed import Printer
from ghp_agents.runs.model.tools import Toolbox
from ghp_agents.runs.model.transcript import Transcript

CONTEXT = 32_768  # tokens
CHARS = 3  # characters of a token, few: a conversation that is too long is cut by the server
_RUN = re.compile(r"[0-9a-f]{12}")


class _Parser(argparse.ArgumentParser):
    """Its errors are ours."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(
            f"The runner `openai` cannot be started: {message}.",
            hint="Its options are --url, --model, --key-env and --context; see docs/runs.md.",
        )


def options() -> argparse.ArgumentParser:
    """The client's options. Wrong ones raise UsageError."""
    parser = _Parser(prog="openai", allow_abbrev=False, add_help=False)
    parser.add_argument("--prompt-file", type=Path, required=True, help="the task")
    parser.add_argument("--url", default=OLLAMA, help=f"the endpoint (default: {OLLAMA})")
    parser.add_argument("--model", default="", help="the model (default: the only one there)")
    parser.add_argument("--key-env", default="", help="the variable with the endpoint's key")
    parser.add_argument("--context", type=int, default=CONTEXT, help="tokens the model reads")
    parser.add_argument("--turns", type=int, default=0, help="answers of the model at most")
    parser.add_argument("--resume", default="", help="the run whose conversation continues")
    return parser


def main(argv: Sequence[str]) -> int:
    """Run one session; returns the exit code."""
    given = options().parse_args(argv)
    clock = SystemClock()
    printer = Printer(_print, lambda: clock.interval()[1])
    env = dict(os.environ)
    endpoint = Endpoint(given.url, env.pop(given.key_env, "") if given.key_env else "")
    folder = given.prompt_file.absolute().parent
    session = folder.name if _RUN.fullmatch(folder.name) else "openai"
    root = Path.cwd()
    try:
        model = given.model or only_model(endpoint)
        printer.begin(session, model)
        hook, toolbox = ModelHook(root, session, env), Toolbox(root, env)
        begun = hook.event("session_start", model=model)
        toolbox.add_env(begun.env)
        kept = Transcript(folder)
        prompt = given.prompt_file.read_text("utf-8")
        before = earlier(folder, given.resume)
        task = "\n\n".join(filter(None, (prompt, begun.context)))
        kept.add(*(before or [{"role": "system", "content": SYSTEM}]))
        kept.add({"role": "user", "content": task})

        def ask(body: transcript.Message) -> ModelAnswer:
            answer = endpoint.ask(body, clock.wait, printer.note, printer.alive)
            hook.count(model, answer)
            return answer

        loop = ModelLoop(ask, toolbox, hook, kept, printer, model=model,
                         context=given.context * CHARS, rounds=given.turns)  # fmt: skip
        try:
            end = loop.run()
        finally:
            hook.event("session_end")
    except (GhpError, OSError) as error:
        end = LoopEnd(error=str(error))
    printer.end(end.error, end.text)
    return 1 if end.error else 0


def earlier(folder: Path, run: str) -> list[transcript.Message]:
    """The conversation of an earlier run, whose folder is beside this one; empty if there is
    none."""
    return transcript.read(folder.parent / run) if _RUN.fullmatch(run) else []


def only_model(endpoint: Endpoint) -> str:
    """The endpoint's model, if it has one. Raises EndpointError, NotSetUpError."""
    names = endpoint.models()
    if len(names) == 1:
        return names[0]
    offers = f"It offers {', '.join(sorted(names)[:8])}." if names else "It offers none."
    raise NotSetUpError(
        f"No model is chosen for {endpoint.url}. {offers}",
        hint="Name one: `agents.runs.openai.model` in your settings, or `-- --model NAME`.",
    )


def _print(line: str) -> None:
    os.write(1, f"{line}\n".encode("utf-8", "replace"))


def _terminated(number: int, _: object) -> NoReturn:
    """End in order: a command that runs is ended with its children."""
    raise SystemExit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _terminated)
    sys.exit(main(sys.argv[1:]))
