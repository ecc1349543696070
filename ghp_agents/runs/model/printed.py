"""What our client prints: JSON lines in the form of Claude Code and Codex, which
`runs/stream.py` reads."""

import json
from collections.abc import Callable
from typing import Any

from ghp_agents.runs.model.answer import ModelAnswer, ModelCall
from ghp_agents.runs.model.calls import BadArgumentsError, arguments, without_thoughts
from ghp_agents.runs.model.tools import ToolResult

ALIVE_EVERY = 20.0  # seconds between two signs of life in a long answer
SHOWN = 4_000  # characters of a text or a result


class Printer:
    """Prints the lines of one session. `now` gives seconds."""

    def __init__(self, write: Callable[[str], None], now: Callable[[], float]) -> None:
        self._write, self._now = write, now
        self._spoke = now()
        self._answers = 0

    def begin(self, session: str, model: str) -> None:
        """The session by which it can be resumed."""
        self._line(type="system", subtype="init", session_id=session, model=model)

    def answer(self, answer: ModelAnswer) -> None:
        """An answer of the model: its text, its calls, and what it used."""
        self._answers += 1
        blocks: list[dict[str, Any]] = []
        if text := without_thoughts(answer.text):
            blocks.append({"type": "text", "text": text[:SHOWN]})
        blocks += [
            {"type": "tool_use", "name": call.name, "input": _shown(call)} for call in answer.calls
        ]
        for block in blocks or [{"type": "text", "text": ""}]:
            message = {"id": f"answer-{self._answers}", "content": [block]}
            self._line(type="assistant", message=message)
        used = {"input_tokens": answer.tokens_in, "output_tokens": answer.tokens_out}
        self._line(type="turn.completed", usage=used)
        if answer.cost:
            self._line(type="step_finish", part={"cost": answer.cost})

    def result(self, call: ModelCall, result: ToolResult) -> None:
        """The result of a call."""
        block = {
            "type": "tool_result", "tool_use_id": call.id, "content": result.text[:SHOWN],
            "is_error": result.failed,
        }  # fmt: skip
        self._line(type="user", message={"content": [block]})

    def note(self, text: str) -> None:
        """A line for people; no JSON."""
        self._spoke = self._now()
        self._write(text)

    def alive(self) -> None:
        """The model still answers."""
        if self._now() >= self._spoke + ALIVE_EVERY:
            self._line(type="system", subtype="alive")

    def end(self, error: str, text: str) -> None:
        """The session has ended."""
        self._line(
            type="result", subtype="error" if error else "success", is_error=bool(error),
            result=(error or text)[:SHOWN], num_turns=self._answers,
        )  # fmt: skip

    def _line(self, **fields: Any) -> None:
        self._spoke = self._now()
        self._write(json.dumps(fields))


def _shown(call: ModelCall) -> dict[str, Any]:
    try:
        given = arguments(call.arguments)
    except BadArgumentsError:
        return {}
    return {key: value[:SHOWN] if isinstance(value, str) else value for key, value in given.items()}
