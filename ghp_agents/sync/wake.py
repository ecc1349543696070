"""Wake a resting session for a request, a reply or an answer that it has not heard.

The call has no content: the session's hook tells the news, as at every prompt. So nothing is told
twice, and a call that is lost delays the news until the session's next event.
"""

from collections.abc import Collection
from pathlib import Path

from ghp_agents.core.ids import AgentName
from ghp_agents.core.json_file import object_file
from ghp_agents.ports import Context
from ghp_agents.presence import service as presence
from ghp_agents.presence import way_in

FOLDER = "woken"
PAUSE = 60.0  # seconds between two calls of one session
CALL = (
    "ghp-agents, which coordinates the agents of this repository, has news for this agent. Its "
    "hook adds the news to this message. `ghp agent-inbox` lists messages."
)


def wake(ctx: Context, agent: AgentName, keys: Collection[str]) -> None:
    """Wake the session of `agent`, if it rests, once for each of the undelivered items `keys`."""
    if not keys or not ctx.ws.settings.wake or not way_in.is_open(ctx.ws, agent):
        return
    file = object_file(Path(ctx.ws.cache_dir, FOLDER, f"{agent}.json"))
    known, now = file.read(), ctx.ws.steady()
    if is_due(known.get("keys"), known.get("at"), keys, now) and way_in.send(ctx.ws, agent, CALL):
        file.write({"keys": sorted(keys), "at": now})


def is_due(known: object, at: object, keys: Collection[str], now: float) -> bool:
    """Whether there is an item among `keys` for which the session was not called, and it was not
    called just now. `known` and `at` are what was kept of the last call."""
    called = set(map(str, known)) if isinstance(known, list) else set[str]()
    is_new = not called.issuperset(keys)
    return is_new and not (isinstance(at, int | float) and 0 <= now - at < PAUSE)


def wakes_any(ctx: Context) -> bool:
    """Whether a resting session of this clone could be woken."""
    if not ctx.ws.settings.wake:
        return False
    return any(way_in.is_open(ctx.ws, each) for each in presence.agents_here(ctx.ws))
