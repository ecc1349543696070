"""Requests to an endpoint in OpenAI's format: streamed, bounded, and repeated where that may help.

`urllib` follows no redirect here: the key would go to another server. Proxies of the environment
are used, but not for this machine.
"""

import http.client
import json
import socket
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import one_line
from ghp_agents.hotpath.quoting import clean
from ghp_agents.runs.model.answer import AnswerBuilder, ModelAnswer, error_text

OLLAMA = "http://127.0.0.1:11434/v1"
TRIES = 6  # of one request
FIRST_WAIT = 2.0  # seconds, doubled each time
LONGEST_WAIT = 300.0  # seconds; a server may ask for more
SILENCE = 300.0  # seconds without a byte: a processor reads a long prompt for minutes
ANSWER_LIMIT = 32_000_000  # bytes
LINE_LIMIT = 4_000_000
ERROR_LIMIT = 20_000
LISTED = 1_000  # models
PASSING = (408, 409, 425, 429)  # and all from 500
LOCAL = ("localhost", "127.0.0.1", "::1")
Wait = Callable[[float], None]
Tell = Callable[[str], None]


class EndpointError(GhpError):
    """The endpoint refuses a request, for the reason `why`; repeating it does not help. `status` is
    HTTP's, 0 if the server did not answer."""

    def __init__(self, message: str, *, hint: str, why: str, status: int = 0) -> None:
        super().__init__(message, hint=hint)
        self.why, self.status = why, status


class _PassingError(Exception):
    """A request that may succeed later, perhaps after the seconds that the server names."""

    def __init__(self, why: str, after: float = 0.0) -> None:
        super().__init__(why)
        self.after = after


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """No redirect is followed; the response is an error."""


class Endpoint(NamedTuple):
    """Where a model is, and the key for it."""

    url: str
    key: str = ""
    silence: float = SILENCE

    def models(self) -> list[str]:
        """The models that the endpoint offers. Raises EndpointError."""
        try:
            with self._open("models", None) as response:
                fields = json.loads(response.read(ANSWER_LIMIT))
        except _PassingError as error:
            raise self._failed(str(error)) from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise self._failed(reason(error)) from None
        data = fields.get("data") if isinstance(fields, dict) else None
        names = [model.get("id") for model in data or [] if isinstance(model, dict)]
        return [name for name in names if isinstance(name, str)][:LISTED]

    def ask(
        self, body: Mapping[str, Any], wait: Wait, tell: Tell, alive: Callable[[], None]
    ) -> ModelAnswer:
        """The model's answer. `tell` gets the reason when a request is repeated, `alive` is called
        for each part of the answer. Raises EndpointError."""
        for number in range(TRIES):
            try:
                return self._ask(body, alive)
            except _PassingError as error:
                why, after = str(error), error.after
            except (OSError, http.client.HTTPException) as error:
                why, after = reason(error), 0.0
            if number < TRIES - 1:
                seconds = min(LONGEST_WAIT, after or FIRST_WAIT * 2**number)
                tell(f"{why}; it is asked again in {seconds:.0f} s")
                wait(seconds)
        raise self._failed(f"{why}, {TRIES} times")

    def _ask(self, body: Mapping[str, Any], alive: Callable[[], None]) -> ModelAnswer:
        builder = AnswerBuilder()
        with self._open("chat/completions", json.dumps(body).encode()) as response:
            if "event-stream" in (response.headers.get("content-type") or ""):
                for text in _events(response):
                    _add(builder, text)
                    alive()
            else:
                if not _add(builder, response.read(ANSWER_LIMIT).decode("utf-8", "replace")):
                    raise _PassingError("the answer is not a JSON object")
                builder.end()
        if builder.error:
            raise _PassingError(f"the model failed: {_short(builder.error)}")
        answer = builder.answer()
        if not answer.finish:
            raise _PassingError("the answer broke off")
        return answer

    def _open(self, path: str, body: bytes | None) -> http.client.HTTPResponse:
        headers = {"Content-Type": "application/json", "User-Agent": "ghp-agents"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        request = urllib.request.Request(f"{self.url.rstrip('/')}/{path}", body, headers)
        local = urlsplit(self.url).hostname in LOCAL
        handlers = [_NoRedirect(), *([urllib.request.ProxyHandler({})] if local else [])]
        try:
            opened = urllib.request.build_opener(*handlers).open(request, timeout=self.silence)
        except urllib.error.HTTPError as error:
            with error:
                self._judge(error)
        except urllib.error.URLError as error:
            raise _PassingError(reason(error)) from None
        assert isinstance(opened, http.client.HTTPResponse)
        return opened

    def _judge(self, error: urllib.error.HTTPError) -> None:
        """Raise what a response with this status means."""
        try:
            text = error.read(ERROR_LIMIT).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException):
            text = ""
        try:
            fields = json.loads(text)
            text = error_text(fields) if isinstance(fields, dict) else text
        except ValueError:
            pass
        why = f"HTTP status {error.code}" + (f": {_short(text)}" if text.strip() else "")
        if error.code in PASSING or error.code >= 500:
            raise _PassingError(why, _retry_after(error.headers.get("retry-after")))
        raise self._failed(why, error.code)

    def _failed(self, why: str, status: int = 0) -> EndpointError:
        return EndpointError(
            f"The model at {_short(self.url)} did not answer: {why}.",
            hint="Check the address, the model and the key: `agents.runs.openai` in the settings, "
            "or --url, --model and --key-env after `--`. For Ollama: `ollama serve`.",
            why=why,
            status=status,
        )


def _events(response: http.client.HTTPResponse) -> Iterator[str]:
    """The data of server-sent events."""
    size = 0
    while line := response.readline(LINE_LIMIT):
        size += len(line)
        if size > ANSWER_LIMIT:
            raise _PassingError(f"the answer has more than {ANSWER_LIMIT} bytes")
        text = line.decode("utf-8", "replace").strip()
        if text.startswith("data:"):
            yield text[5:].strip()


def _add(builder: AnswerBuilder, text: str) -> bool:
    """Add a part; returns whether it is one. Without an end the request is repeated."""
    if text == "[DONE]":
        builder.end()
        return True
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if isinstance(fields, dict):
        builder.add(fields)
    return isinstance(fields, dict)


def _retry_after(text: str | None) -> float:
    """Seconds; 0 if it is not a number."""
    try:
        return max(0.0, float(text or 0))
    except ValueError:
        return 0.0


def reason(error: BaseException) -> str:
    """Why there was no answer, in words."""
    cause = getattr(error, "reason", error)
    if isinstance(cause, TimeoutError | socket.timeout):
        return "it was silent for too long"
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror.lower()
    return _short(str(cause) or type(cause).__name__)


def _short(text: str) -> str:
    return one_line(clean(text), 300)
