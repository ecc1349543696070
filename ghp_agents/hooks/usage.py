"""What a client says that its session has used: in its status line, or the session's file. Only
counts and the model's name are taken. Files are read in bounded parts, and what cannot be read
counts as not reported."""

import os

from ghp_agents.hooks.event import text
from ghp_agents.hotpath import boot_clock, fastjson, heartbeat, usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, TypeAlias

    from ghp_agents.hooks.scene import HookContext
    from ghp_agents.hotpath.usage import Reading

    Count: TypeAlias = Callable[[dict[str, Any], dict[str, Any]], bool]

PART = 2_097_152  # bytes that one event reads of Claude Code's file; the next one continues
TAIL = 262_144  # bytes at the end of Codex's file
FOREVER = 1e9  # seconds
ANSWERS = 4  # whose lines may come again, with higher counts


def counting(context: "HookContext", *, is_base: bool = False) -> "Count | None":
    """What adds the session's use to a heartbeat; None if the event tells nothing of it."""
    event, session = context.event, context.event.session or ""
    if event.client not in ("claude", "codex"):
        return None

    def count(record: "dict[str, Any]", local: "dict[str, Any]") -> bool:
        reading = _reading(context, local, is_base)
        return reading is not None and _add(context, record, local, reading, session, is_base)

    return count


def begin(context: "HookContext") -> None:
    """Of a session that has a past, such as one that is resumed, count only what follows."""
    path = context.event.transcript
    if os.path.isabs(path) and "\0" not in path and os.path.exists(path):
        note(context, counting(context, is_base=True))


def note(context: "HookContext", count: "Count | None") -> None:
    """Send a heartbeat with the use alone, if that has changed enough."""
    if count is None or context.presence() is None:
        return
    heartbeat.beat(
        context.folders,
        context.agent,
        {},
        context.now,
        session=heartbeat.session(context.environ)[1],
        throttle=FOREVER,
        pid=heartbeat.agent_pid(context.environ),
        moment=boot_clock.read(),
        count=count,
    )


def from_status_line(context: "HookContext", payload: "Mapping[str, Any]") -> "Count | None":
    """What adds the use in a message to Claude Code's status line; None if it has none."""
    cost, window = _object(payload, "cost"), _object(payload, "context_window")
    if not cost:
        return None
    percent = window.get("used_percentage")
    milliseconds = cost.get("total_api_duration_ms")
    reading = usage.Reading(
        "statusline",
        {
            "usd": cost.get("total_cost_usd"),
            "apiSeconds": milliseconds / 1000 if usage.is_count(milliseconds) else None,
            "linesAdded": cost.get("total_lines_added"),
            "linesRemoved": cost.get("total_lines_removed"),
        },
        model=text(_object(payload, "model"), "id"),
        context=int(percent) if usage.is_count(percent) else None,
        of_process=True,
    )
    session = context.event.session or ""
    return lambda record, local: _add(context, record, local, reading, session, False)


def _add(
    context: "HookContext",
    record: "dict[str, Any]",
    local: "dict[str, Any]",
    reading: "Reading",
    session: str,
    is_base: bool,
) -> bool:
    pid = heartbeat.agent_pid(context.environ)
    every = 0.0 if context.event.kind in ("stop", "end") else usage.EVERY
    return usage.count(
        record, local, reading, session, pid, context.now, is_base=is_base, every=every
    )


def _reading(context: "HookContext", local: "Mapping[str, Any]", is_base: bool) -> "Reading | None":
    event = context.event
    file = _open(event.transcript)
    if file is None:
        return None
    try:
        size = os.fstat(file).st_size
        if event.client == "codex":
            return _of_codex(_part(file, max(0, size - TAIL), TAIL), event.model)
        known = usage.kept(local, "transcript", event.session or "")
        if is_base and not known:
            return usage.Reading("transcript", {}, place={"offset": size})
        return _of_claude(file, size, known)
    except OSError:
        return None
    finally:
        os.close(file)


def _open(path: str) -> int | None:
    """The descriptor of a regular file; a path from outside may name anything."""
    from stat import S_ISREG

    if not os.path.isabs(path) or "\0" in path:
        return None
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if S_ISREG(os.fstat(file).st_mode):
        return file
    os.close(file)
    return None


def _part(file: int, offset: int, limit: int) -> bytes:
    return os.pread(file, limit, offset)


def _of_codex(tail: bytes, model: str) -> "Reading | None":
    """The last totals in a rollout file: {"payload": {"type": "token_count", "info": …}}."""
    for line in reversed(tail.split(b"\n")):
        if b'"token_count"' not in line:
            continue
        info = _object(_object(_decoded(line), "payload"), "info")
        total = _object(info, "total_token_usage")
        if total:
            counters = {
                "inputTokens": total.get("input_tokens"),
                "cachedTokens": total.get("cached_input_tokens"),
                "outputTokens": total.get("output_tokens"),
            }
            return usage.Reading("rollout", counters, model=model)
    return None


def _of_claude(file: int, size: int, known: "Mapping[str, Any]") -> "Reading":
    """The totals of a transcript: those known, and those of the lines that were added since.

    An answer has a line for each of its blocks, all with the same id and the counts up to then.
    """
    offset = known.get("offset")
    offset = offset if type(offset) is int and offset >= 0 else 0
    part = _part(file, offset, PART) if offset < size else b""
    end = part.rfind(b"\n") + 1
    total = [_int(known, name) for name in ("inputTokens", "cachedTokens", "outputTokens")]
    answers = {found[0]: found[1:] for found in known.get("answers", ()) if _is_answer(found)}
    model = ""
    for name, found, counts in _answers(part[:end]):
        before = answers.pop(name, [0, 0, 0])
        answers[name] = [max(pair) for pair in zip(before, counts, strict=True)]
        total = [sum(n) - old for *n, old in zip(total, answers[name], before, strict=True)]
        model = model if found.startswith("<") else found  # `<synthetic>` is no model
    # A line that is longer than a part is passed over.
    offset += len(part) if not end and len(part) == PART else end
    place = {"offset": offset, "answers": [[x, *answers[x]] for x in [*answers][-ANSWERS:]]}
    names = ("inputTokens", "cachedTokens", "outputTokens")
    return usage.Reading(
        "transcript", dict(zip(names, total, strict=True)), model=model, place=place
    )


def _answers(part: bytes) -> "Iterator[tuple[str, str, list[int]]]":
    """The id, the model and the tokens of each line with an answer of the model."""
    for line in part.split(b"\n"):
        if b'"usage"' not in line or b'"assistant"' not in line:
            continue
        entry = _decoded(line)
        message = _object(entry, "message")
        found, name = _object(message, "usage"), text(message, "id")
        if text(entry, "type") == "assistant" and found and name:
            cached = _int(found, "cache_read_input_tokens")
            fresh = _int(found, "input_tokens") + _int(found, "cache_creation_input_tokens")
            counts = [fresh + cached, cached, _int(found, "output_tokens")]
            yield name[:64], text(message, "model"), counts


def _is_answer(value: "Any") -> bool:
    return isinstance(value, list) and len(value) == 4 and all(map(usage.is_count, value[1:]))


def _decoded(line: bytes) -> "Any":
    try:
        return fastjson.decode(line.decode("utf-8"))
    except ValueError:
        return None


def _object(value: "Any", key: str) -> "Mapping[str, Any]":
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _int(value: "Mapping[str, Any]", key: str) -> int:
    found = value.get(key)
    return int(found) if usage.is_count(found) else 0
