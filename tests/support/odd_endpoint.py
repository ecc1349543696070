"""An endpoint that misbehaves as a test says: odd statuses, broken streams, silence."""

import contextlib
import json
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

STREAM = "text/event-stream"


class Reply(NamedTuple):
    """One response: its status, body and headers; `hangs` leaves the connection open after it."""

    body: str = ""
    status: int = 200
    kind: str = STREAM
    headers: Mapping[str, str] = {}
    hangs: bool = False


class OddEndpoint:
    """The replies that are left, and the requests that were made."""

    def __init__(self) -> None:
        self.url = ""
        self.replies: list[Reply] = []
        self.requests: list[tuple[str, Mapping[str, str], Any]] = []
        self.over = threading.Event()


def events(*parts: object, ends: bool = True) -> str:
    """A stream of these parts."""
    lines = [f"data: {json.dumps(part)}\n\n" for part in parts]
    return "".join([*lines, "data: [DONE]\n\n"] if ends else lines)


def delta(finish: str | None = None, **fields: object) -> dict[str, Any]:
    """A part of a stream."""
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


@contextlib.contextmanager
def serve() -> Iterator[OddEndpoint]:
    """An endpoint on a free port of this machine."""
    odd = OddEndpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply(None)

        def do_POST(self) -> None:
            self._reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _reply(self, request: Any) -> None:
            odd.requests.append((self.path, dict(self.headers), request))
            reply = odd.replies.pop(0) if odd.replies else Reply(status=500)
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.send_response(reply.status)
                self.send_header("Content-Type", reply.kind)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(reply.body.encode())
                self.wfile.flush()
                if reply.hangs:
                    odd.over.wait()

        def log_message(self, *_: object) -> None:
            """Nothing of it is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    odd.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield odd
    finally:
        odd.over.set()
        server.shutdown()
        thread.join()
        server.server_close()
