"""What a client reports that its session has used: in its status line, in its messages, or in the
session's file (`session_file.py`)."""

import os

from ghp_agents.hooks.event import text
from ghp_agents.hotpath import boot_clock, heartbeat, usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeAlias

    from ghp_agents.hooks.event import Event
    from ghp_agents.hooks.scene import HookContext
    from ghp_agents.hotpath.usage import Reading

    Count: TypeAlias = Callable[[dict[str, Any], dict[str, Any]], bool]

FOREVER = 1e9  # seconds
MESSAGES = "messages"  # the source of counts that are in events themselves


def counting(context: "HookContext", *, is_base: bool = False) -> "Count | None":
    """What adds the session's use to a heartbeat; None if the event tells nothing of it."""
    event, session = context.event, _counted(context.event)
    if event.reported is None and not event.transcript:
        return None
    if event.last_line:
        from ghp_agents.hooks import session_file

        session_file.wait(event.transcript, event.last_line)

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
    event, session = context.event, _counted(context.event)
    if event.reported is not None:
        return _reported(event, usage.kept(local, MESSAGES, session))
    from ghp_agents.hooks import session_file

    kept = usage.kept(local, session_file.SOURCE, session)
    return session_file.read(
        event.client, event.transcript, session, event.model, kept, is_base=is_base
    )


def _counted(event: "Event") -> str:
    """The session that counters belong to. A plugin counts from when its process began."""
    session = event.session or ""
    return f"{session} {event.pid}" if event.reported is not None and event.pid else session


def _reported(event: "Event", kept: "Mapping[str, Any]") -> "Reading | None":
    """The counts in a message: counters, or those of the turn that it names."""
    counters: dict[str, Any] = dict(event.reported or {})
    turn = counters.pop("turn", None)
    if turn is None:
        return usage.Reading(MESSAGES, counters, model=text(counters, "model"))
    counts = {name: value for name, value in counters.items() if usage.is_count(value)}
    if not isinstance(turn, str) or kept.get("turn") == turn or not counts:
        return None
    for name, value in counts.items():
        before = kept.get(name)
        counts[name] = value + (before if usage.is_count(before) else 0)
    return usage.Reading(MESSAGES, counts, model=event.model, place={"turn": turn[:64]})


def _object(value: "Any", key: str) -> "Mapping[str, Any]":
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}
