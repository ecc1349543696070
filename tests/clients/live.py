"""A session of Claude Code whose model is the test: it reads what the model gets, and answers."""

import json
import queue
import re
import subprocess
import threading
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.clients import TIMEOUT_S, Bench, ghp
from tests.support.fake_models import Call, Request, Turn

STEPS = 99  # at most, in one session
# What hooks add to prompts and results; the client adds more.
CONTEXT = re.compile(
    r"(\w+ hook additional context: .*?)(?:\n</system-reminder>|\n\n# Environment|\Z)", re.DOTALL
)


class Reading(NamedTuple):
    """What is new to the model in a request; empty at the end of a turn."""

    results: tuple[str, ...] = ()  # of the tools
    context: str = ""  # of the hooks


class LiveSession:
    """One session. Each method returns what the model reads next."""

    def __init__(self, bench: Bench, folder: Path, agent: str) -> None:
        self.folder = folder
        self._heard: queue.Queue[Request | None] = queue.Queue()
        self._turns: queue.Queue[Turn] = queue.Queue()
        bench.models.script(agent, *[self._line] * STEPS)
        stream = ("--input-format", "stream-json")  # prompts come until standard input is closed
        self._process = bench.claude(folder, agent, *stream, prompt="", stdin=subprocess.PIPE)
        self._watcher = threading.Thread(target=self._watch)
        self._watcher.start()
        self._send("Do it.")

    def begin(self) -> Reading:
        """The first prompt, which was sent at the start: two sessions may start at once."""
        return self._next()

    def prompt(self, text: str) -> Reading:
        """A prompt of an idle session."""
        self._send(text)
        return self._next()

    def shell(self, *commands: str) -> Reading:
        """A step with shell commands."""
        return self._step(
            *(Call("Bash", {"command": each, "description": "Run it"}) for each in commands)
        )

    def ghp(self, *lines: str) -> Reading:
        """A step with our commands."""
        return self.shell(*map(ghp, lines))

    def write(self, path: Path, content: str = "new\n") -> Reading:
        """A step that writes a file."""
        return self._step(Call("Write", {"file_path": str(path), "content": content}))

    def look(self) -> Reading:
        """A step that changes nothing."""
        return self._step(Call("Read", {"file_path": str(self.folder / "README.md")}))

    def rest(self) -> Reading:
        """The end of a turn; it is empty unless a hook makes the session go on."""
        self._turns.put(Turn("I stop."))
        return self._next()

    def close(self) -> None:
        """End the session, also in the middle of a turn."""
        assert self._process.stdin
        for _ in range(2):  # a hook may make it go on once
            self._turns.put(Turn("I stop."))
        with self._process:
            self._process.stdin.close()
            self._watcher.join(TIMEOUT_S)
            self._process.kill()

    def _send(self, text: str) -> None:
        assert self._process.stdin
        message = {"type": "user", "message": {"role": "user", "content": text}}
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _step(self, *calls: Call) -> Reading:
        self._turns.put(Turn(calls=calls))
        return self._next()

    def _line(self, request: Request) -> Turn:
        self._heard.put(request)
        return self._turns.get(timeout=TIMEOUT_S)

    def _watch(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            if json.loads(line)["type"] == "result":
                self._heard.put(None)

    def _next(self) -> Reading:
        request = self._heard.get(timeout=TIMEOUT_S)
        return _read(request) if request else Reading()


def _read(request: Request) -> Reading:
    messages = request.body["messages"]
    last = max((n for n, each in enumerate(messages) if each["role"] == "assistant"), default=-1)
    blocks = [block for each in messages[last + 1 :] for block in _blocks(each["content"])]
    texts = [block["text"] for block in blocks if block["type"] == "text"]
    results = [_text(block["content"]) for block in blocks if block["type"] == "tool_result"]
    found = [match[1] for text in texts if (match := CONTEXT.search(text))]
    return Reading(tuple(results), "\n".join(found))


def _blocks(content: str | list[Any]) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _text(content: str | list[Any]) -> str:
    return "".join(block["text"] for block in _blocks(content))
