"""What clients print while they work: JSON lines with their session, turns, cost and errors.

Claude Code and Cursor name `session_id`, Codex `thread_id`, OpenCode `sessionID`. Any line is a
sign of life. A line that is not a JSON object is text for people.
"""

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from ghp_agents.core.ids import one_line
from ghp_agents.hotpath.quoting import clean
from ghp_agents.runs.outages import forms as outages
from ghp_agents.runs.outages.forms import Outage
from ghp_agents.runs.record import TEXT_LIMIT, is_session

SESSIONS = ("session_id", "thread_id", "sessionID")
CODEX_STEPS = ("command_execution", "file_change", "mcp_tool_call")
TOKENS = (
    "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens",
)  # fmt: skip
LINE_LIMIT = 1_000_000  # characters; a longer line is not read
SHOWN = 2_000  # characters of a shown line
RECENT = 8  # lines of text; an error above them was not the end
SYNTHETIC = "<synthetic>"  # the model of an answer that Claude Code itself wrote


class ClientProgress(NamedTuple):
    """What a client has reported so far."""

    session: str = ""
    turns: int = 0
    cost: float = 0.0  # US dollars
    tokens: int = 0
    error: str = ""  # the last one; empty after a success
    answer: str = ""  # the message that was counted last
    outage: Outage | None = None  # of its account, if nothing was done since
    fades: int = 0  # lines of text until it is forgotten; 0: never
    left_work: bool = False  # in its worktree, whatever it reported

    @property
    def has_worked(self) -> bool:
        """Whether a model has answered, or left work."""
        return self.left_work or self.turns > 0 or self.tokens > 0 or self.cost > 0


class ShownLine(NamedTuple):
    """A line of a log for people."""

    text: str
    is_error: bool = False


def read(progress: ClientProgress, line: str) -> ClientProgress:
    """The progress after one more line."""
    event = _event(line)
    if event is None:
        return _text(progress, line)
    session = next((event[key] for key in SESSIONS if is_session(event.get(key))), "")
    progress = progress._replace(session=session or progress.session)
    match event.get("type"):
        case "assistant":
            return _turn(progress, event)
        case "item.completed":
            step = _object(event.get("item")).get("type") in CODEX_STEPS
            outage = None if step else progress.outage
            return progress._replace(turns=progress.turns + step, outage=outage)
        case "tool_use":
            return progress._replace(turns=progress.turns + 1, outage=None)
        case "rate_limit_event":
            return progress._replace(
                outage=outages.of_limits(_object(event.get("rate_limit_info")))
            )
        case "turn.completed":
            used = _object(event.get("usage"))
            tokens = _number(used.get("input_tokens")) + _number(used.get("output_tokens"))
            return progress._replace(tokens=progress.tokens + int(tokens), error="", outage=None)
        case "step_finish":
            part = _object(event.get("part"))
            tokens = progress.tokens + int(_number(_object(part.get("tokens")).get("total")))
            cost = progress.cost + _number(part.get("cost"))
            return progress._replace(cost=cost, tokens=tokens, error="", outage=None)
        case "result":
            return _result(progress, event)
        case "error" | "turn.failed":
            error = _message(event) or "the client reported an error"
            return _failed(progress._replace(error=error), event, error)
    return progress


def _text(progress: ClientProgress, line: str) -> ClientProgress:
    """The progress after a line of text: what a client writes beside its events, or all of it."""
    outage = outages.read(line) if line.strip() else None
    if outage:
        return progress._replace(outage=outages.merged(progress.outage, outage), fades=RECENT)
    if progress.fades != 1:
        return progress._replace(fades=max(0, progress.fades - 1))
    return progress._replace(outage=None, fades=0)


def _failed(progress: ClientProgress, event: Mapping[str, Any], text: str) -> ClientProgress:
    """The progress after an event of an error, with its text."""
    error = _object(event.get("error"))
    name, status = error.get("name"), _object(error.get("data")).get("statusCode")
    words = f"{name}: {text}" if isinstance(name, str) else text
    outage = outages.of_status(event.get("api_error_status", status), words)
    return progress._replace(outage=outages.merged(progress.outage, outage), fades=0)


def shown(line: str) -> ShownLine | None:
    """A line of a log as people read it; None for one without information for them."""
    event = _event(line)
    if event is None:
        text = clean(line.strip())[:SHOWN]
        return ShownLine(text) if text else None
    match event.get("type"):
        case "assistant" | "user":
            return _blocks(event)
        case "item.completed":
            return _item(_object(event.get("item")))
        case "message" if event.get("role") == "assistant":
            return _plain(event.get("content"))
        case "text":
            return _plain(_object(event.get("part")).get("text"))
        case "tool_use":
            part = _object(event.get("part"))
            return _call(event.get("tool_name") or part.get("tool"), event.get("parameters"))
        case "result":
            failed = _result(ClientProgress(), event).error
            return ShownLine(f"Ended: {failed}", True) if failed else ShownLine("Ended.")
        case "error" | "turn.failed":
            return ShownLine(_message(event) or "an error without a message", True)
    return None


def last_words(before: str, line: str) -> str:
    """What says how a client ended, after one more line: its last one that is no advice."""
    shown_line = shown(line)
    text = shown_line.text if shown_line else ""
    return before if not text or text == "Ended." or text.lower().startswith("hint:") else text


def _event(line: str) -> dict[str, Any] | None:
    if len(line) > LINE_LIMIT or not line.lstrip().startswith("{"):
        return None
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def _turn(progress: ClientProgress, event: Mapping[str, Any]) -> ClientProgress:
    """Claude Code prints a line for each block of an answer, all with the answer's id."""
    message = _object(event.get("message"))
    if message.get("model") == SYNTHETIC or event.get("error"):
        shown = _blocks(event)
        outage = outages.of_name(event.get("error"), shown.text if shown else "")
        return progress._replace(outage=outages.merged(progress.outage, outage), fades=0)
    if event.get("parent_tool_use_id") or (message.get("id") or "") == progress.answer != "":
        return progress
    answer, used = message.get("id"), _object(message.get("usage"))
    return progress._replace(
        turns=progress.turns + 1,
        tokens=progress.tokens + sum(int(_number(used.get(name))) for name in TOKENS),
        answer=answer if isinstance(answer, str) else progress.answer,
        outage=None,
    )


# Claude Code ended itself at an option of ours, and names only the kind of the error.
LIMITS = {
    "error_max_budget_usd": "it reached the limit in dollars",
    "error_max_turns": "it reached the limit of turns",
}


def _result(progress: ClientProgress, event: Mapping[str, Any]) -> ClientProgress:
    stats = _object(event.get("stats"))
    failed = event.get("is_error") is True or event.get("status") == "error"
    error = ""
    if failed:
        subtype = event.get("subtype")
        texts = (event.get("result"), LIMITS.get(str(subtype), subtype), _message(event))
        error = next((_line(text) for text in texts if _line(text)), "the client failed")
    turns = int(_number(event.get("num_turns")))
    if failed:  # the message of an error counts as a turn
        progress = _failed(progress, event, error)
        turns = turns if turns > 1 else 0
    else:
        progress = progress._replace(outage=None)
    return progress._replace(
        turns=max(progress.turns, turns),
        cost=max(progress.cost, _number(event.get("total_cost_usd"))),
        tokens=max(progress.tokens, int(_number(stats.get("total_tokens")))),
        error=error,
    )


def _blocks(event: Mapping[str, Any]) -> ShownLine | None:
    content = _object(event.get("message")).get("content")
    for block in map(_object, content if isinstance(content, list) else []):
        match block.get("type"):
            case "text" if event.get("type") == "assistant":
                return _plain(block.get("text"))
            case "tool_use":
                return _call(block.get("name"), block.get("input"))
            case "tool_result" if block.get("is_error") is True:
                return ShownLine(f"Refused or failed: {_line(block.get('content'))}", True)
    return None


def _item(item: Mapping[str, Any]) -> ShownLine | None:
    match item.get("type"):
        case "agent_message":
            return _plain(item.get("text"))
        case "command_execution":
            failed = item.get("exit_code") not in (0, None)
            return ShownLine(f"$ {_line(item.get('command'))}", failed)
        case "error":
            return ShownLine(_line(item.get("message")), True)
        case str(kind) if kind in CODEX_STEPS:
            return _call(kind, item.get("changes"))
    return None


def _call(name: object, given: object) -> ShownLine | None:
    if not isinstance(name, str):
        return None
    fields = _object(given)
    keys = ("command", "file_path", "path", "pattern", "query", "description")
    about = next((_line(fields[key]) for key in keys if _line(fields.get(key))), "")
    return ShownLine(f"> {one_line(clean(name), 60)} {about}".rstrip())


def _plain(text: object) -> ShownLine | None:
    shown = clean(text).strip()[:SHOWN] if isinstance(text, str) else ""
    return ShownLine(shown) if shown else None


def _message(event: Mapping[str, Any]) -> str:
    error = event.get("error")
    data = _object(_object(error).get("data"))
    texts = (event.get("message"), error, _object(error).get("message"), data.get("message"))
    return next((_line(text) for text in texts if _line(text)), "")


def _line(text: object) -> str:
    return one_line(clean(text), TEXT_LIMIT) if isinstance(text, str) else ""


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: object) -> float:
    """A count or an amount; 0 for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return float(value) if math.isfinite(value) and 0 <= value < 1e12 else 0.0
