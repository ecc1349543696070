"""What our hooks say about each step of the model: the same program that other clients call.

So leases, permissions, presence, news and stops reach the model as they reach any agent. A hook
that fails lets the model go on, as with any client; its error is in the clone's log. A run with
permissions has no other guard, so it does without the tool.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.cards import permissions
from ghp_agents.core import process
from ghp_agents.runs.model.answer import ModelAnswer

TIMEOUT_S = 60.0
REPLY_LIMIT = 1_000_000  # bytes
UNDECIDED = "The hook gave no answer, so the tool was refused."


class HookAnswer(NamedTuple):
    """The hook's answer: a refusal, a text for the model, variables for its commands."""

    deny: str = ""
    context: str = ""
    env: Mapping[str, str] = {}


class ModelHook:
    """The hooks for one session in a worktree."""

    def __init__(self, folder: Path, session: str, env: Mapping[str, str]) -> None:
        self._folder, self._session, self._env = folder, session, env
        self._usage: dict[str, Any] = {}

    def event(self, name: str, **fields: Any) -> HookAnswer:
        """Report an event by its name in `hooks/openai.py`."""
        message = {
            "hook_event_name": name, "session_id": self._session, "cwd": str(self._folder),
            **fields, **({"usage": self._usage} if self._usage else {}),
        }  # fmt: skip
        command = [sys.executable, "-P", "-m", "ghp_agents", "hook", "openai"]
        try:
            data = process.pipe(
                command, json.dumps(message).encode("utf-8", "replace"), cwd=self._folder,
                env=self._env, timeout=TIMEOUT_S, most=REPLY_LIMIT,
            )  # fmt: skip
            reply = json.loads(data) if data else {}
        except (OSError, ValueError):
            reply = None
        if not isinstance(reply, dict):
            return HookAnswer(UNDECIDED if permissions.RIGHTS in self._env else "")
        env = reply.get("env")
        return HookAnswer(
            _text(reply.get("deny")), _text(reply.get("context")),
            {str(key): str(value) for key, value in env.items()} if isinstance(env, dict) else {},
        )  # fmt: skip

    def count(self, model: str, answer: ModelAnswer) -> None:
        """Add what an answer used; the next event reports it."""
        before = self._usage
        used = {"inputTokens": answer.tokens_in, "outputTokens": answer.tokens_out,
                "usd": answer.cost}  # fmt: skip
        counts = {name: before.get(name, 0) + amount for name, amount in used.items() if amount}
        self._usage = {**before, **counts, "model": model} if counts else before

    def refusal(self, tool: str, given: Mapping[str, Any]) -> HookAnswer:
        """May the tool do this? `deny` says why not, `context` warns. An edit is given with the
        whole new content of its file."""
        return self.event("before_tool", tool_name=tool, tool_input=dict(given))

    def used(self, tool: str, given: Mapping[str, Any], printed: str) -> str:
        """The tool has done this; returns news for the model."""
        fields = {"tool_name": tool, "tool_input": dict(given), "tool_response": printed}
        return self.event("after_tool", **fields).context

    def turn_ends(self, *, extended: bool) -> str:
        """The model wants to end; returns news that it should hear before."""
        return self.event("turn_end", stop_hook_active=extended).context


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
