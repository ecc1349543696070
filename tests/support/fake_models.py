"""A model API on loopback that says what a test has written for it, and keeps what it was asked.

It speaks as much as clients need of Anthropic's Messages, OpenAI's Responses and Chat Completions,
and Gemini's API. Each session has its own API key, by which its script is found; many sessions may
run at once.
"""

import contextlib
import json
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Json = dict[str, Any]
# The fields with what is said, in any of the APIs.
NESTED = (
    "content", "text", "output", "input", "arguments",
    "parts", "functionResponse", "response", "error",
)  # fmt: skip


class Call(NamedTuple):
    """One use of a tool; a text as input is Codex's custom tool, apply_patch."""

    tool: str
    input: Mapping[str, Any] | str


class Turn(NamedTuple):
    """What the model says in one answer."""

    text: str = ""
    calls: Sequence[Call] = ()
    tokens: int = 2  # that the conversation is said to have; many make a client compact it
    cached: int = 0  # of these, by Chat Completions and Gemini's API alone
    written: int = 0  # tokens of the answer, by the same and by Claude's API


class Request(NamedTuple):
    """What a client asked of the model."""

    key: str
    path: str
    body: Json

    @property
    def said(self) -> str:
        """Every text of the conversation up to here, definitions of tools left out."""
        fields = (self.body.get(name) for name in ("messages", "input", "contents"))
        return "\n".join(_texts(next(filter(None, fields), [])))

    @property
    def prompt(self) -> str:
        """What the session was asked for in the beginning; a subagent has its own."""
        messages = [
            message for message in self.body.get("messages", []) if message["role"] == "user"
        ]
        texts = [*_texts(messages[:1])]
        return texts[-1] if texts else ""


Line = Turn | Callable[[Request], Turn]


class FakeModels:
    """Scripts by key, and the requests that were made; `url` is where clients find it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._lock = threading.Lock()
        self._scripts: dict[tuple[str, str], list[Line]] = {}
        self._requests: dict[str, list[Request]] = defaultdict(list)
        self.offers: list[str] = []  # the models that it lists
        self.without_tools: set[str] = set()  # the keys of clients that never send any

    def script(self, key: str, *lines: Line, prompt: str = "") -> None:
        """The answers for a session in order; with `prompt`, for its subagent with that prompt.

        A line may be a function of the request. After the last one the model says "Done.".
        """
        self._scripts[key, prompt] = [*lines]

    def requests(self, key: str) -> list[Request]:
        """What the sessions with this key asked, in order; side questions without tools too."""
        with self._lock:
            return [*self._requests[key]]

    def said(self, key: str) -> str:
        """Everything that has reached the model in any request, each text as often as it came."""
        return "\n".join(request.said for request in self.requests(key))

    def answer(self, request: Request) -> Turn:
        """The next line of the script for a request."""
        with self._lock:
            self._requests[request.key].append(request)
            if not request.body.get("tools") and request.key not in self.without_tools:
                return Turn("A title")  # what clients ask beside the work: titles, summaries
            script = self._scripts.get((request.key, request.prompt))
            script = script or self._scripts.get((request.key, ""), [])
            line = script.pop(0) if script else Turn("Done.")
        return line if isinstance(line, Turn) else line(request)


@contextlib.contextmanager
def serve() -> Iterator[FakeModels]:
    """A server on a free port of 127.0.0.1 for as long as the block lasts."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.models = FakeModels(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.models
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a client that keeps its connection open would hold up the test
    request_queue_size = 64
    models: FakeModels


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing of the traffic is printed."""

    def do_HEAD(self) -> None:
        self._send("", "application/json")

    def do_GET(self) -> None:
        listed = {"data": [{"id": name} for name in self.server.models.offers]}
        is_list = self.path.endswith("/v1/models") and listed["data"]
        self._send(json.dumps(listed) if is_list else "{}", "application/json")

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers.get("content-length", 0)))
        path = self.path.partition("?")[0]
        if path.endswith("/count_tokens"):
            self._send('{"input_tokens": 10}', "application/json")
        elif path.endswith("/messages"):
            self._events(_messages, self._asked(path, content))
        elif path.endswith("/responses"):
            self._events(_responses, self._asked(path, content))
        elif path.endswith("/chat/completions"):
            self._events(_completions, self._asked(path, content))
        elif path.endswith(":streamGenerateContent"):
            self._events(_generated, self._asked(path, content, is_stream=True))
        elif path.endswith(":generateContent"):
            self._events(_generated, self._asked(path, content))
        elif path.endswith(":countTokens"):
            self._send('{"totalTokens": 10}', "application/json")
        else:
            self._send("{}", "application/json")

    def _asked(self, path: str, content: bytes, *, is_stream: bool = False) -> Request:
        keys = map(self.headers.get, ("x-api-key", "x-goog-api-key", "authorization"))
        key = next(filter(None, keys), "")
        body = json.loads(content) | ({"stream": True} if is_stream else {})
        return Request(key.removeprefix("Bearer "), path, body)

    def _events(self, render: Callable[[Json, Turn, str], list[Json]], request: Request) -> None:
        models = self.server.models
        turn = models.answer(request)
        number = f"{len(models.requests(request.key))}_{threading.get_ident()}"
        events = render(request.body, turn, number)
        if request.body.get("stream"):
            self._send("".join(map(_event, events)), "text/event-stream")
        elif render is _messages:
            self._send(json.dumps(_whole(request.body, turn)), "application/json")
        else:
            self._send(json.dumps(events[0]), "application/json")

    def _send(self, text: str, kind: str) -> None:
        content = text.encode()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the client was ended
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)


def _event(fields: Json) -> str:
    """One event of a stream; those of some APIs have a name."""
    name = f"event: {fields['type']}\n" if "type" in fields else ""
    return f"{name}data: {json.dumps(fields)}\n\n"


def _messages(body: Json, turn: Turn, number: str) -> list[Json]:
    """An answer as the stream of Anthropic's Messages API."""
    usage = {"input_tokens": 10, "output_tokens": 1}
    message = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    blocks: list[tuple[Json, Json]] = []
    if turn.text:
        delta = {"type": "text_delta", "text": turn.text}
        blocks.append(({"type": "text", "text": ""}, delta))
    for place, call in enumerate(turn.calls):
        begun = {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": call.tool}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call.input)}
        blocks.append((begun | {"input": {}}, delta))
    events: list[Json] = [{"type": "message_start", "message": message}]
    for index, (begun, delta) in enumerate(blocks):
        events += [
            {"type": "content_block_start", "index": index, "content_block": begun},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    reason = {"stop_reason": "tool_use" if turn.calls else "end_turn", "stop_sequence": None}
    written = {"output_tokens": turn.written or 5}
    ended = {"type": "message_delta", "delta": reason, "usage": written}
    return [*events, ended, {"type": "message_stop"}]


def _whole(body: Json, turn: Turn) -> Json:
    """An answer to a client that did not ask for a stream."""
    start = _messages(body, turn, "whole")[0]["message"]
    content = [{"type": "text", "text": turn.text}]
    return dict(start) | {"content": content, "stop_reason": "end_turn"}


def _responses(body: Json, turn: Turn, number: str) -> list[Json]:
    """An answer as the stream of OpenAI's Responses API."""
    items: list[Json] = []
    if turn.text:
        content = [{"type": "output_text", "text": turn.text}]
        items.append(
            {"type": "message", "role": "assistant", "id": f"msg_{number}", "content": content}
        )
    for place, call in enumerate(turn.calls):
        item = {"id": f"item_{number}_{place}", "call_id": f"call_{number}_{place}"}
        if isinstance(call.input, str):
            item |= {"type": "custom_tool_call", "input": call.input}
        else:
            item |= {"type": "function_call", "arguments": json.dumps(call.input)}
        space, _, tool = call.tool.rpartition("__")  # of an MCP server's tool
        items.append(item | {"name": tool} | ({"namespace": space} if space else {}))
    usage = {"input_tokens": turn.tokens, "output_tokens": 0, "total_tokens": turn.tokens}
    response = {"id": f"resp_{number}"}
    done = [
        {"type": "response.output_item.done", "output_index": index, "item": item}
        for index, item in enumerate(items)
    ]
    ended = response | {"output": items, "usage": usage}
    return [
        {"type": "response.created", "response": response},
        *done,
        {"type": "response.completed", "response": ended},
    ]


def _completions(body: Json, turn: Turn, number: str) -> list[Json]:
    """An answer as OpenAI's Chat Completions: a stream of one part, or the whole."""
    calls = [
        {
            "index": place,
            "id": f"call_{number}_{place}",
            "type": "function",
            "function": {"name": call.tool, "arguments": json.dumps(call.input)},
        }
        for place, call in enumerate(turn.calls)
    ]
    message = {"role": "assistant", "content": turn.text} | ({"tool_calls": calls} if calls else {})
    choice = {"index": 0, "finish_reason": "tool_calls" if calls else "stop"}
    usage = {
        "prompt_tokens": turn.tokens,
        "completion_tokens": turn.written,
        "total_tokens": turn.tokens + turn.written,
        "prompt_tokens_details": {"cached_tokens": turn.cached},
    }
    return [{
        "id": f"chatcmpl-{number}",
        "object": "chat.completion.chunk" if body.get("stream") else "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [choice | {"delta" if body.get("stream") else "message": message}],
        "usage": usage,
    }]  # fmt: skip


def _generated(body: Json, turn: Turn, number: str) -> list[Json]:
    """An answer of Gemini's API: a stream of one part, or the whole."""
    parts: list[Json] = [{"text": turn.text}] if turn.text else []
    for place, call in enumerate(turn.calls):
        named = {"id": f"call_{number}_{place}", "name": call.tool, "args": call.input}
        parts.append({"functionCall": named})
    usage = {
        "promptTokenCount": turn.tokens,
        "cachedContentTokenCount": turn.cached,
        "candidatesTokenCount": turn.written,
    }
    answer = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return [{
        "responseId": f"answer_{number}",
        "candidates": [answer],
        "usageMetadata": usage | {"totalTokenCount": turn.tokens + turn.written},
    }]  # fmt: skip


def _texts(value: Any) -> Iterator[str]:
    """What is said in a part of a conversation: texts, tool results, arguments."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for name in NESTED:
            yield from _texts(value.get(name))
