"""Our segment of Claude Code's status line: agent, issue, open questions and stale agents.

    worker-1 · #12 implementing · 1 question open · 2 agents stale

It is printed after every message. So the agent's part is read from its presence file, and the
counts, which need the state, are cached.
"""

from ghp_agents.hooks import scene, usage
from ghp_agents.hooks.event import Event, text
from ghp_agents.hotpath import fastjson, news_flag, own_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ghp_agents.hooks.scene import HookContext

KEPT = 30.0  # seconds that counts are cached
CACHE = "/cache/segment.json"
SEPARATOR = " · "


def segment(payload: "Mapping[str, Any]", environ: "Mapping[str, str]") -> str:
    """The segment for a session; empty without an agent or a set-up repository."""
    workspace = payload.get("workspace")
    cwd = text(workspace, "current_dir") or text(payload, "cwd")
    session = text(payload, "session_id") or None
    context = scene.find(Event("claude", "prompt", "statusLine", session, cwd or None), environ)
    if context is None:
        return ""
    usage.note(context, usage.from_status_line(context, payload))
    facts = _known(context)
    parts = [context.agent, _work(context, facts), *_counts(facts)]
    return SEPARATOR.join([part for part in parts if part])


def _work(context: "HookContext", facts: "Mapping[str, Any]") -> str:
    presence = context.presence() or {}
    issue, status = presence.get("issue"), presence.get("status")
    correction = facts["corrected"].get(context.agent)
    if correction and correction[0] == _claim(presence):
        issue, status = correction[1:]
    number = f"#{issue}" if type(issue) is int else ""
    words = [number, status if isinstance(status, str) and status.isprintable() else ""]
    return " ".join([word for word in words if word])


def _claim(presence: "Mapping[str, Any]") -> "list[Any]":
    return [presence.get(key) for key in ("issue", "generation", "status")]


def _known(context: "HookContext") -> "dict[str, Any]":
    """The counts and corrections; computed again when there is news."""
    cached = fastjson.read_object(context.folders[0] + CACHE) or {}
    at, *counts = (cached.get(key) for key in ("at", "open", "stale"))
    news_at = news_flag.set_at(context.folders, context.agent)
    fresh = isinstance(at, int | float) and 0 <= context.now - at < KEPT and at >= news_at
    if not fresh or [*map(type, (*counts, cached.get("corrected")))] != [int, int, dict]:
        cached = {"at": context.now, **_computed(context)}
        _save_counts(context, cached)
    return cached


def _counts(facts: "Mapping[str, Any]") -> "list[str]":
    questions, stale = facts["open"], facts["stale"]
    return [
        f"{questions} question{'s' if questions != 1 else ''} open" if questions else "",
        f"{stale} agent{'s' if stale != 1 else ''} stale" if stale else "",
    ]


def _computed(context: "HookContext") -> "dict[str, Any]":
    """The numbers of open questions and of stale agents, and the agents whose claim has ended."""
    from ghp_agents.claims import shown_work
    from ghp_agents.escalations import service as escalation
    from ghp_agents.leases import settled_questions
    from ghp_agents.presence import service as presence
    from ghp_agents.presence.liveness import Liveness

    app = context.app()
    snapshot = app.store.snapshot()
    questions = settled_questions.marked(app.world, escalation.present_questions(app.world))
    views = presence.list_agents(app, snapshot)
    corrected = zip(views, shown_work.shown(app, snapshot, views), strict=True)
    return {
        "open": sum(question.is_open for question in questions),
        "stale": sum(view.liveness is Liveness.STALE for view in views),
        "corrected": {
            view.name: [_claim(view.presence), *_claim(shown.presence)[::2]]
            for view, shown in corrected
            if shown.presence != view.presence
        },
    }


def _save_counts(context: "HookContext", counts: "Mapping[str, Any]") -> None:
    try:
        own_file.replace(context.folders[0] + CACHE, fastjson.encode(counts))
    except OSError:
        return  # then they are counted again
