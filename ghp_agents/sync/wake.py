"""Wake a resting session for what it has not heard: a request, a reply, an answer, a review, a
returned pull request, a conflict with main or a closed blocker.

The call has no content: the session's hook tells the news, as at every prompt. So nothing is told
twice, and a call that is lost delays the news until the session's next event.
"""

from collections.abc import Collection, Mapping
from pathlib import Path

from ghp_agents.core.ids import AgentName
from ghp_agents.core.json_file import object_file
from ghp_agents.ports import Context
from ghp_agents.presence import service as presence
from ghp_agents.presence import way_in
from ghp_agents.workspace import now_text

FOLDER = "calls"  # of the cache: a file for each agent
PAUSE = 60.0  # seconds between two calls of one session
REFUSED_PAUSES = (
    60.0,
    300.0,
    1_800.0,
)  # after each refused call of a session; after the last, none
CALL = (
    "ghp-agents, which coordinates the agents of this repository, has news for this agent. Its "
    "hook adds the news to this message. `ghp agent-inbox` lists messages. Called at {}."
)  # with the time, because Claude Code drops a message that is identical to the one before


def wake(ctx: Context, agent: AgentName, keys: Collection[str]) -> None:
    """Wake the session of `agent`, if it rests, once for each of the undelivered items `keys`. A
    client that refuses is asked again after growing pauses."""
    session = way_in.open_session(ctx.ws, agent) if keys and ctx.ws.settings.wake else ""
    if not session:
        return
    file = object_file(Path(ctx.ws.home_folder, FOLDER, f"{agent}.json"))
    kept, now = file.read(), ctx.ws.steady()
    if not is_due(kept, session, keys, now):
        return
    if way_in.send(ctx.ws, agent, CALL.format(now_text(ctx.ws))):
        file.write({"keys": sorted(keys), "at": now})
    else:
        refused = _refused(kept, session) + 1
        file.write({**kept, "at": now, "session": session, "refused": refused})


def is_due(kept: Mapping[str, object], session: str, keys: Collection[str], now: float) -> bool:
    """Whether the session has not been called for one of `keys` yet, and was not called just now.
    `kept` is the note of the last call."""
    last_keys, at, refused = kept.get("keys"), kept.get("at"), _refused(kept, session)
    if refused > len(REFUSED_PAUSES):
        return False
    called = set(map(str, last_keys)) if isinstance(last_keys, list) else set[str]()
    pause = REFUSED_PAUSES[refused - 1] if refused else PAUSE
    is_new = not called.issuperset(keys)
    return is_new and not (isinstance(at, int | float) and 0 <= now - at < pause)


def _refused(kept: Mapping[str, object], session: str) -> int:
    """How many calls the client of this session refused since it took one."""
    number = kept.get("refused")
    return number if isinstance(number, int) and kept.get("session") == session else 0


def wakes_any(ctx: Context) -> bool:
    """Whether a resting session of this clone could be woken."""
    if not ctx.ws.settings.wake:
        return False
    return any(way_in.open_session(ctx.ws, agent) for agent in presence.agents_here(ctx.ws))
