"""A model's answer, put together from the parts of a stream, whatever the server leaves out.

The format is OpenAI's Chat Completions. Ollama before 0.5 gives calls no `index`, and some servers
give all calls the index 0; so a name with another id begins another call.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

TEXT_LIMIT = 200_000  # characters of an answer that are kept
ARGUMENTS_LIMIT = 2_000_000  # characters of the arguments of one call
CALLS_LIMIT = 32


class ModelCall(NamedTuple):
    """A tool that the model wants to use; its arguments are text until they are checked."""

    id: str
    name: str
    arguments: str


class ModelAnswer(NamedTuple):
    """One answer."""

    text: str = ""
    calls: tuple[ModelCall, ...] = ()
    finish: str = ""  # stop, tool_calls, length; empty: the stream broke off
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0  # US dollars, from the servers that report it


class AnswerBuilder:
    """Collects the parts of an answer."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._size = 0
        self._calls: list[dict[str, str]] = []
        self._places: dict[int, int] = {}  # of the last call with an index
        self._finish = ""
        self._usage: Mapping[str, Any] = {}
        self.error = ""

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Add a part of a stream, or a whole answer; other data is skipped."""
        if chunk.get("error"):
            self.error = error_text(chunk)
        if isinstance(chunk.get("usage"), dict):
            self._usage = chunk["usage"]
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return
        message = choice.get("delta") or choice.get("message")
        if isinstance(message, dict):
            self._add_text(message.get("content"))
            calls = message.get("tool_calls")
            for call in calls if isinstance(calls, list) else []:
                if isinstance(call, dict):
                    self._add_call(call)
        if isinstance(choice.get("finish_reason"), str):
            self._finish = choice["finish_reason"]

    def end(self) -> None:
        """The server said that the stream is complete."""
        self._finish = self._finish or "stop"

    def answer(self) -> ModelAnswer:
        """The answer as far as it came."""
        calls = [
            ModelCall(call["id"] or f"call_{number}", call["name"], call["arguments"])
            for number, call in enumerate(self._calls)
        ]
        return ModelAnswer(
            "".join(self._text), tuple(calls), self._finish,
            int(number(self._usage.get("prompt_tokens"))),
            int(number(self._usage.get("completion_tokens"))),
            number(self._usage.get("cost")),
        )  # fmt: skip

    def _add_text(self, content: object) -> None:
        if isinstance(content, list):  # parts of several kinds
            content = "".join(
                part["text"]
                for part in content
                if isinstance(part, dict) and isinstance(part.get("text"), str)
            )
        if isinstance(content, str) and self._size < TEXT_LIMIT:
            self._text.append(content[: TEXT_LIMIT - self._size])
            self._size += len(content)

    def _add_call(self, part: Mapping[str, Any]) -> None:
        function = part.get("function")
        function = function if isinstance(function, dict) else {}
        name, given = function.get("name"), function.get("arguments")
        id_ = part["id"] if isinstance(part.get("id"), str) else ""
        name = name if isinstance(name, str) else ""
        if isinstance(given, dict):  # as in Ollama's own API
            given = json.dumps(given)
        call = self._find(part.get("index"), id_, name)
        if call is None:
            return
        call["id"] = call["id"] or id_
        call["name"] = call["name"] or name
        if isinstance(given, str):
            call["arguments"] = (call["arguments"] + given)[:ARGUMENTS_LIMIT]

    def _find(self, index: object, id_: str, name: str) -> dict[str, str] | None:
        """The call that a part belongs to; None if there are too many."""
        place = self._places.get(index) if isinstance(index, int) else len(self._calls) - 1
        call = self._calls[place] if place is not None and place >= 0 else None
        is_named = call is not None and bool(call["name"] and name)
        is_other = call is not None and bool(id_) and id_ != call["id"]
        if call and not (is_named and (is_other or not isinstance(index, int))):
            return call
        if len(self._calls) >= CALLS_LIMIT:
            return None
        self._calls.append({"id": "", "name": "", "arguments": ""})
        if isinstance(index, int):
            self._places[index] = len(self._calls) - 1
        return self._calls[-1]


def error_text(fields: Mapping[str, Any]) -> str:
    """A server's message about an error."""
    error = fields.get("error", fields.get("message", fields.get("detail")))
    if isinstance(error, dict):
        error = error.get("message") or json.dumps(error)
    return error if isinstance(error, str) else json.dumps(error)


def number(value: object) -> float:
    """A count or an amount; 0 for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return float(value) if 0 <= value < 1e12 else 0.0
