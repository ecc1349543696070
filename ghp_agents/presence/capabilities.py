"""What an agent can do: as the settings say, else as it declared."""

import re
from collections.abc import Sequence

from ghp_agents.core.errors import RefusedError, UsageError
from ghp_agents.core.ids import AgentName, one_line
from ghp_agents.ports import StateStore
from ghp_agents.presence import service as presence
from ghp_agents.state.presence import Presence
from ghp_agents.workspace import Workspace

NONE = "none"  # forgets what was declared
MOST = 50
_WORD = re.compile(r"[a-z0-9][a-z0-9_.+#-]{0,39}")


def of(ws: Workspace, agent: str, fields: Presence | None) -> tuple[str, ...]:
    """What an agent can do; nothing means everything. `fields` are its presence."""
    value = (fields or {}).get("capabilities")
    own = tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
    return ws.settings.capabilities.get(agent, own)


def declare(
    ws: Workspace, store: StateStore, agent: AgentName, words: Sequence[str]
) -> tuple[str, ...]:
    """Add capabilities to what an agent declared, and return all; `none` forgets the earlier ones.

    Raises RefusedError if the settings list others, UsageError for a word that is not a capability.
    """
    if agent in ws.settings.capabilities:
        card = ws.settings.card(agent)
        where = (
            f"The card {card.path} on main"
            if card and card.skills
            else (f"The setting agents.capabilities.{agent}")
        )
        raise RefusedError(
            f"{where} says what it can do.",
            hint=f"Change it there, or remove it: {', '.join(ws.settings.capabilities[agent])}.",
        )
    lower = [word.casefold() for word in words]
    for word in lower:
        if not _WORD.fullmatch(word):
            raise UsageError(
                f"{one_line(word, 40)!r} is not a capability.",
                hint="Use one word of letters, digits and -_.+#, for example `rust` or `gpu`.",
            )
    old = () if NONE in lower else of(ws, agent, ws.presence(agent))
    declared = [word for word in dict.fromkeys([*old, *lower]) if word != NONE][:MOST]
    presence.heartbeat(ws, store, agent, {"capabilities": declared})
    return tuple(declared)
