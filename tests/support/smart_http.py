"""A host that speaks git's smart HTTP on loopback: `git http-backend` behind a small server.

It can be slow, and it can break a connection: before a push reaches git, when half of it has, or
when git has written it and before the answer is out.
"""

import contextlib
import os
import subprocess
import threading
from collections.abc import Iterator
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from ghp_agents.core.clock import SystemClock

PUSH = "/git-receive-pack"


class Cut(Enum):
    """Where a connection breaks."""

    BEFORE = "before"  # nothing of the push arrives
    DURING = "during"  # half of it does
    AFTER = "after"  # all of it does, and is written; no word of that comes back
    HALF_WORD = "half a word"  # all of it does, and half of the answer comes back


class SmartHost:
    """A host of the bare repositories in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.delay = 0.0  # seconds before a push is looked at
        self.pushes = 0
        self.is_down = False  # whoever asks gets no answer
        self._goes_down = False
        self._cuts: list[Cut] = []
        self._lock = threading.Lock()
        self._server = _Server(self)

    @property
    def address(self) -> str:
        """Where its repositories are: `<address>/remote.git`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def cut(self, *cuts: Cut, down: bool = False) -> None:
        """Break the next pushes, one after another; those after them go through, or with `down`
        the host is down from the first cut on."""
        with self._lock:
            self._cuts, self._goes_down = [*cuts], down

    @property
    def cuts_left(self) -> int:
        """How many pushes are still to be broken."""
        return len(self._cuts)

    def next_cut(self) -> Cut | None:
        """What happens to the push that is there now."""
        with self._lock:
            self.pushes += 1
            cut = self._cuts.pop(0) if self._cuts else None
            self.is_down = self.is_down or (cut is not None and self._goes_down)
            return cut

    @contextlib.contextmanager
    def running(self) -> Iterator["SmartHost"]:
        """Answer in threads, as long as somebody is in here."""
        serving = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        serving.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            serving.join()


class _Server(ThreadingHTTPServer):
    request_queue_size = 256  # a crowd comes at once
    daemon_threads = True

    def __init__(self, host: SmartHost) -> None:
        self.host = host
        super().__init__(("127.0.0.1", 0), _Request)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that was killed, or whose connection we broke, is no error of the test's."""


class _Request(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        if not self.server.host.is_down:
            self._send(_backend(self, b""))

    def do_POST(self) -> None:
        body = self._body()
        host = self.server.host
        if host.is_down:
            return
        # Git asks with an empty request whether it may push, before it sends what is long.
        is_push = self.path.endswith(PUSH) and len(body) > 4
        cut = host.next_cut() if is_push else None
        if is_push and host.delay:
            SystemClock().wait(host.delay)
        if cut is Cut.BEFORE:
            return
        if cut is Cut.DURING:
            _backend(self, body[: len(body) // 2])
            return
        answer = _backend(self, body)
        if cut is Cut.HALF_WORD:
            self._send(answer, cut_off=True)
        elif cut is None:
            self._send(answer)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts: list[bytes] = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        return b"".join(parts)

    def _send(self, answer: bytes, *, cut_off: bool = False) -> None:
        head, _, content = answer.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n") if line]
        status = next((value for name, value in fields if name == "Status"), "200 OK")
        self.send_response(int(status.split()[0]))
        for name, value in fields:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if cut_off else content)

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


def _backend(request: _Request, body: bytes) -> bytes:
    """What git answers, with a head as CGI has it."""
    path, _, query = request.path.partition("?")
    env = {
        **os.environ,
        "GIT_PROJECT_ROOT": str(request.server.host.folder),
        "GIT_HTTP_EXPORT_ALL": "1",
        "REQUEST_METHOD": request.command,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "CONTENT_TYPE": request.headers.get("Content-Type", ""),
        "CONTENT_LENGTH": str(len(body)) if request.command == "POST" else "",
        "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
        "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
        "REMOTE_USER": "somebody",
        "REMOTE_ADDR": "127.0.0.1",
    }
    done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=env)
    return done.stdout


def serve(remote: Path) -> SmartHost:
    """A host of a bare repository, to be entered by `with host.running()`."""
    with (remote / "config").open("a") as config:
        config.write("[http]\n\treceivepack = true\n")
    return SmartHost(remote.parent)
