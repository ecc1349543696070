"""An OpenAI-compatible end point on loopback, for what is set up by configuration."""

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Model:
    """What the end point answers to all, and what it was asked."""

    def __init__(self, answer: str, status: int = 200) -> None:
        self.answer, self.status, self.asked = answer, status, list[Any]()


@contextlib.contextmanager
def serving(model: Model) -> Iterator[str]:
    """A server that speaks for `model`; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            question = json.loads(self.rfile.read(size))
            model.asked.append((self.path, question))
            body = json.dumps(_completion(self.path, model.answer, question)).encode()
            self.send_response(model.status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing to see."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


def _completion(path: str, answer: str, body: dict[str, Any]) -> dict[str, Any]:
    if path.endswith("/embeddings"):
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        return {
            "object": "list", "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1},
            "data": [
                {"object": "embedding", "index": index, "embedding": json.loads(answer)}
                for index, _ in enumerate(texts)
            ],
        }  # fmt: skip
    return {
        "id": "1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{
            "index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": answer},
        }],
    }  # fmt: skip
