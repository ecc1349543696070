"""A server on loopback that answers by a script, for the tests of the door to GitHub.

It keeps no state of its own: each step says what one request is answered, or how the connection
breaks. What was asked is written down.
"""

import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.github.api.access import Access
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.github.api.token import Token
from ghp_agents.ports import Clock
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock

SECRET = "ghp_" + "s3cr3tS3cr3tS3cr3tS3cr3tS3cr3tS3cr3t"
REPOSITORY = "acme/widgets"


class Asked(NamedTuple):
    """A request as it arrived; header names in small letters."""

    verb: str
    path: str
    headers: Mapping[str, str]
    body: Any
    port: int  # the client's end: one for each connection

    @property
    def line(self) -> str:
        """`GET /user`."""
        return f"{self.verb} {self.path}"


class Handler(BaseHTTPRequestHandler):
    """One connection of the server below."""

    protocol_version = "HTTP/1.1"
    server: "_Server"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing on the terminal."""

    def answer(self) -> None:
        """Write the request down, and take the next step of the script."""
        size = int(self.headers.get("content-length", 0))
        content = self.rfile.read(size)
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = json.loads(content) if content else None
        request = Asked(self.command, self.path, headers, body, self.client_address[1])
        self.server.script.step(request)(self)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815 - their names

    def reply(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        """A whole answer; without a date, because the tests set the time."""
        self.send_response_only(status)
        for name, value in {"content-length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


Step = Callable[[Handler], None]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    script: "Script"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is part of some scripts; everything else is a mistake here."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class Script:
    """The server. Without a step left it answers 599, which no test takes for a success."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self._steps: list[Step] = []
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), Handler)
        self._server.script = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def then(self, *steps: Step) -> "Script":
        """These steps come next."""
        with self._lock:
            self._steps += steps
        return self

    def restart(self, *steps: Step) -> None:
        """Another script, from its beginning."""
        with self._lock:
            self.asked, self._steps = [], list(steps)

    def step(self, request: Asked) -> Step:
        """Write a request down; what it is answered."""
        with self._lock:
            self.asked.append(request)
            return self._steps.pop(0) if self._steps else says(599)

    @property
    def lines(self) -> list[str]:
        """What was asked, without bodies and headers."""
        return [request.line for request in self.asked]

    @property
    def left(self) -> int:
        """Steps that were not taken."""
        return len(self._steps)

    def close(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def says(status: int, body: Any = None, **headers: str) -> Step:
    """An answer; `retry_after="3"` is the header `retry-after`."""
    content = b"" if body is None else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler: handler.reply(status, named, content)


def page(status: int, text: str) -> Step:
    """An answer that is no JSON."""
    return lambda handler: handler.reply(status, {"content-type": "text/html"}, text.encode())


def cut(handler: Handler) -> None:
    """The connection ends before the answer."""
    handler.close_connection = True


def half(status: int, body: Any) -> Step:
    """The connection ends in the middle of the answer."""
    content = json.dumps(body).encode()

    def step(handler: Handler) -> None:
        handler.send_response_only(status)
        handler.send_header("content-length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content[: len(content) // 2])
        handler.close_connection = True

    return step


def after(act: Callable[[], object], step: Step) -> Step:
    """Something happens, and then the step."""

    def both(handler: Handler) -> None:
        act()
        step(handler)

    return both


def limits(remaining: int, reset: float, limit: int = 5_000) -> dict[str, str]:
    """The headers about the primary limit."""
    return {
        "x_ratelimit_limit": str(limit),
        "x_ratelimit_remaining": str(remaining),
        "x_ratelimit_reset": str(int(reset)),
    }


def workspace(repo: Path, clock: Clock | None = None, /, **environ: str) -> Workspace:
    """A workspace whose clock is set by hand."""
    named = {"HOME": str(repo.parent), "PATH": os.environ["PATH"], **environ}
    return open_workspace(repo, named, clock or ManualClock())


def access(api: str, secret: str = SECRET) -> Access:
    """Access to the scripted server."""
    return Access("github.com", REPOSITORY, api, Token(secret))


def hub(repo: Path, script: Script, clock: Clock | None = None) -> GitHubRepository:
    """A hub of the scripted server, as one process of the clone has it."""
    return GitHubRepository(workspace(repo, clock), access(script.address))
