"""The tokens in the files that clients keep of their sessions: one JSON object on each line.

Only counts and the model's name are taken. Files are read in bounded parts, from where the last
event stopped. What cannot be read counts as not reported.
"""

import os

from ghp_agents.hooks.event import text
from ghp_agents.hotpath import boot_clock, fastjson, usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any, TypeAlias

    from ghp_agents.hotpath.usage import Reading

    Counts: TypeAlias = "list[float]"
    Answer: TypeAlias = "tuple[str, str, Counts]"  # its id, the model, and the counts

PART = 2_097_152  # bytes that one event reads; the next one continues
TAIL = 262_144  # bytes at the end of a file that are searched for its last lines
LOOKS, LOOK_EVERY = 100, 0.02  # seconds; it usually takes 0.1
ANSWERS = 4  # whose lines may come again, with higher counts
PARTS = 200  # sub-agents of a session, whose files are read; what more of them use is not counted
SOURCE = "transcript"
TOKENS = ("inputTokens", "cachedTokens", "outputTokens")


class Format:
    """How a client writes an answer of the model.

    `mark` is in each line with one. `counts` are the names of what `answer` returns. `folder` is
    where the files of a session's sub-agents are. A line with `again` begins a session once more.
    """

    def __init__(
        self,
        mark: bytes,
        counts: "tuple[str, ...]",
        answer: "Callable[[Mapping[str, Any]], Answer | None]",
        *,
        folder: "Callable[[str, str], str] | None" = None,
        again: bytes = b"",
    ) -> None:
        self.mark = mark
        self.counts = counts
        self.answer = answer
        self.folder = folder
        self.again = again


def read(
    client: str, path: str, session: str, model: str, memory: "Mapping[str, Any]", *, is_base: bool
) -> "Reading | None":
    """What a session has used by now. `memory` is what the last reading stored on this machine.
    `is_base`: without a memory, only what follows counts. `model` is that of the event."""
    format = FORMATS.get(client)
    file = _open(path) if format or client == "codex" else None
    if file is None:
        return None
    try:
        if format is None:
            offset = max(0, os.fstat(file).st_size - TAIL)
            return _codex(os.pread(file, TAIL, offset), model)
        folder = format.folder(path, session) if format.folder else ""
        return _totals(format, file, folder, memory, is_base and not memory)
    except OSError:
        return None
    finally:
        os.close(file)


def wait(path: str, last_line: bytes) -> None:
    """Wait until `last_line` is near the end of a session's file, two seconds at most. Copilot
    writes this file late: when the hook begins, the last answer may not be in it."""
    if not os.path.isabs(path) or "\0" in path or not os.path.isdir(os.path.dirname(path)):
        return
    for _ in range(LOOKS):
        if last_line in _tail(path):
            return
        boot_clock.wait(LOOK_EVERY)


def _tail(path: str) -> bytes:
    """The end of a file; empty if it cannot be read, or not yet."""
    file = _open(path)
    if file is None:
        return b""
    try:
        return os.pread(file, TAIL, max(0, os.fstat(file).st_size - TAIL))
    except OSError:
        return b""
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


def _totals(
    format: Format, file: int, folder: str, memory: "Mapping[str, Any]", is_base: bool
) -> "Reading":
    """The totals of a session and its sub-agents: those in `memory` plus those of later lines."""
    size, offset = os.fstat(file).st_size, _count(memory, "offset")
    if is_base:
        offset = size
    elif not memory and format.again:
        offset = _last(file, size, format.again)
    total: Counts = [_amount(memory, name) for name in format.counts]
    offset, answers, model, left = _follow(format, file, offset, memory.get("answers"), total, PART)
    place: dict[str, Any] = {"offset": offset, "answers": answers}
    if folder:
        place["parts"] = _parts(format, folder, memory.get("parts"), total, left, is_base)
    counters = dict(zip(format.counts, total, strict=True))
    if not counters.get("usd"):
        counters.pop("usd", None)  # the client knows no price
    return usage.Reading(SOURCE, counters, model=model, place=place)


def _parts(
    format: Format, folder: str, previous: "Any", total: "Counts", left: int, is_base: bool
) -> "dict[str, Any]":
    """Add what is new in the files of a folder; returns {name: [offset, answers]}."""
    parts = dict(previous) if isinstance(previous, dict) else {}
    for name, size in _files(folder):
        place = parts.get(name)
        offset, answers = place if isinstance(place, list) and len(place) == 2 else (0, [])
        offset = size if is_base else offset if type(offset) is int and offset >= 0 else 0
        if name not in parts and len(parts) >= PARTS:
            continue
        file = _open(f"{folder}/{name}") if size > offset and left > 0 else None
        if file is not None:
            try:
                offset, answers, _, left = _follow(format, file, offset, answers, total, left)
            finally:
                os.close(file)
        parts[name] = [offset, answers if size > offset or file is not None else []]
    return parts


def _files(folder: str) -> "list[tuple[str, int]]":
    """The names and sizes of the sub-agents' files, in a fixed order."""
    try:
        with os.scandir(folder) as entries:
            return sorted(
                (entry.name, entry.stat(follow_symlinks=False).st_size)
                for entry in entries
                if entry.name.endswith(".jsonl") and len(entry.name) < 100
                if entry.is_file(follow_symlinks=False)
            )
    except OSError:
        return []


def _last(file: int, size: int, mark: bytes) -> int:
    """The offset of the last line with `mark` in the end of a file; 0 without one."""
    offset = max(0, size - PART)
    part = os.pread(file, PART, offset)
    position = part.rfind(mark)
    return offset + part.rfind(b"\n", 0, position) + 1 if position >= 0 else 0


def _follow(
    format: Format, file: int, offset: int, previous: "Any", total: "Counts", left: int
) -> "tuple[int, list[Any], str, int]":
    """Add to `total` what a file has from `offset` on, at most `left` bytes of it.

    Returns the new offset, the last answers with their counts, the model, and the bytes left.
    An answer may have several lines, all with the same id and the counts up to then.
    """
    part = os.pread(file, left, offset)
    end = part.rfind(b"\n") + 1
    width, model = len(total), ""
    answers: dict[str, Counts] = {
        row[0]: row[1:]
        for row in (previous if isinstance(previous, list) else ())
        if _is_answer(row, width)
    }
    for name, label, counts in _answers(format, part[:end].split(b"\n")):
        before = answers.pop(name, [0] * width)
        answers[name] = [max(pair) for pair in zip(before, counts, strict=True)]
        for place, (new, old) in enumerate(zip(answers[name], before, strict=True)):
            total[place] = round(total[place] + new - old, 6)
        model = model if label.startswith("<") else label  # `<synthetic>` is not a model
    # A line that is longer than a part is passed over.
    offset += len(part) if not end and len(part) == left else end
    last = [[name, *answers[name]] for name in [*answers][-ANSWERS:]]
    return offset, last, model, left - len(part)


def _answers(format: Format, lines: "Iterable[bytes]") -> "Iterator[Answer]":
    """What `format` finds in lines of a file; only counts that are amounts."""
    for line in lines:
        entry = _decoded(line) if format.mark in line else None
        answer = format.answer(entry) if isinstance(entry, dict) else None
        if answer and answer[0]:
            yield answer[0][:64], answer[1], answer[2]


def _is_answer(value: "Any", width: int) -> bool:
    return (
        isinstance(value, list)
        and len(value) == width + 1
        and isinstance(value[0], str)
        and all(map(usage.is_count, value[1:]))
    )


# ------------------------------------------------------------------ the lines of each client


def _claude(entry: "Mapping[str, Any]") -> "Answer | None":
    message = _object(entry, "message")
    used = _object(message, "usage")
    if text(entry, "type") != "assistant" or not used:
        return None
    cached = _count(used, "cache_read_input_tokens")
    fresh = _count(used, "input_tokens") + _count(used, "cache_creation_input_tokens")
    counts: Counts = [fresh + cached, cached, _count(used, "output_tokens")]
    return text(message, "id"), text(message, "model"), counts


def _gemini(entry: "Mapping[str, Any]") -> "Answer | None":
    """`output` is without thoughts; `input` is with what came from the cache."""
    used = _object(entry, "tokens")
    if text(entry, "type") != "gemini" or not used:
        return None
    input = _count(used, "input") + _count(used, "tool")
    counts: Counts = [
        input,
        _count(used, "cached"),
        _count(used, "output") + _count(used, "thoughts"),
    ]
    return text(entry, "id"), text(entry, "model"), counts


def _qwen(entry: "Mapping[str, Any]") -> "Answer | None":
    """Its record of each response, also to a sub-agent. With some models the output includes the
    thoughts, with others not; the total tells."""
    used = _object(_object(entry, "systemPayload"), "uiEvent")
    if text(used, "event.name") != "qwen-code.api_response":
        return None
    input, output = _count(used, "input_token_count"), _count(used, "output_token_count")
    thoughts = _count(used, "thoughts_token_count")
    output += thoughts if _count(used, "total_token_count") >= input + output + thoughts else 0
    seconds = _count(used, "duration_ms") / 1000
    counts = [input, _count(used, "cached_content_token_count"), output, seconds]
    return text(entry, "uuid"), text(used, "model"), counts


def _copilot(entry: "Mapping[str, Any]") -> "Answer | None":
    """Its record of each response, also to a sub-agent. Its `cost` counts premium requests, which
    are no money."""
    used = _object(_object(entry, "data"), "usage")
    if text(entry, "type") != "session.usage_record" or not used:
        return None
    input, cached = _count(used, "inputTokens"), _count(used, "cacheReadTokens")
    seconds = _count(used, "duration") / 1000
    counts = [input, cached, _count(used, "outputTokens"), seconds]
    return text(entry, "id"), text(used, "model"), counts


def _pi(entry: "Mapping[str, Any]") -> "Answer | None":
    """`input` is without what came from the cache."""
    message = _object(entry, "message")
    used = _object(message, "usage")
    if text(message, "role") != "assistant" or not used:
        return None
    cached = _count(used, "cacheRead")
    input = _count(used, "input") + cached + _count(used, "cacheWrite")
    counts = [input, cached, _count(used, "output"), _amount(_object(used, "cost"), "total")]
    return text(entry, "id"), text(message, "model"), counts


FORMATS = {
    "claude": Format(
        b'"usage"', TOKENS, _claude,
        folder=lambda path, session: path.removesuffix(".jsonl") + "/subagents",
    ),
    "copilot": Format(
        b'"session.usage_record"', (*TOKENS, "apiSeconds"), _copilot, again=b'"session.resume"'
    ),
    "gemini": Format(
        b'"tokens"', TOKENS, _gemini,
        folder=lambda path, session: f"{os.path.dirname(path)}/{os.path.basename(session)}",
    ),
    "pi": Format(b'"usage"', (*TOKENS, "usd"), _pi),
    "qwen": Format(b'"qwen-code.api_response"', (*TOKENS, "apiSeconds"), _qwen),
}  # fmt: skip


def _codex(tail: bytes, model: str) -> "Reading | None":
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


def _decoded(line: bytes) -> "Any":
    try:
        return fastjson.decode(line.decode("utf-8"))
    except ValueError:
        return None


def _object(value: "Any", key: str) -> "Mapping[str, Any]":
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}


def _amount(value: "Mapping[str, Any]", key: str) -> float:
    amount = value.get(key)
    return amount if usage.is_count(amount) else 0


def _count(value: "Mapping[str, Any]", key: str) -> int:
    return int(_amount(value, key))
