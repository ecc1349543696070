"""What runs use: added to their agents' presence, so that all clones know, and compared with the
budgets."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from ghp_agents.budgets import budget, spent
from ghp_agents.budgets.budget import UsedUp
from ghp_agents.core.errors import GhpError
from ghp_agents.hotpath import heartbeat, usage
from ghp_agents.ports import Context
from ghp_agents.runs.record import RunRecord
from ghp_agents.workspace import Workspace

READ_EVERY = 20.0  # seconds
SOURCE = "run"
FOREVER = 1e9  # seconds


class Spending:
    """The budgets that are used up, as a supervisor knows them."""

    def __init__(self, ctx: Context, tell: Callable[[str], None]) -> None:
        self._ctx, self._tell = ctx, tell
        self._found: Mapping[str, UsedUp] = {}
        self._told: dict[str, str] = {}  # by agent: the budget that it was told of
        self._read_at = -1e9

    def of(self, agent: str) -> str:
        """The setting of the used-up budget that stops an agent; empty without one."""
        now = self._ctx.ws.clock.interval()[1]
        if now >= self._read_at + READ_EVERY:
            self._read_at = now
            with suppress(GhpError):  # what was known is still true
                self._found = spent.used_up(self._ctx)
        over = budget.of(self._found, agent)
        key = over.key if over else ""
        if over and self._told.get(agent) != key:
            self._tell(f"{agent}: {over.sentence}")
        self._told[agent] = key
        return key

    def add(self, run: RunRecord, seconds: float) -> None:
        """Add a run that has ended to what its agent has used."""
        add(self._ctx.ws, run, seconds)
        self._read_at = -1e9


def add(ws: Workspace, run: RunRecord, seconds: float) -> None:
    """Add a run's turns, time and money to its agent's presence. A run counts once. Money counts if
    the client's hooks have not reported it."""
    presence = ws.presence(run.agent)
    if presence is None:
        return

    def count(record: dict[str, Any], local: dict[str, Any]) -> bool:
        counters: dict[str, float] = {"turns": run.turns, "runSeconds": seconds}
        if run.cost and not _is_reported(local, run.session):
            counters["usd"] = run.cost
        mine = {**record, "issue": run.issue}  # the agent may be done with it
        reading = usage.Reading(SOURCE, counters)
        usage.count(mine, local, reading, run.id, None, ws.clock.now())
        if usage.FIELD in mine:
            record[usage.FIELD] = mine[usage.FIELD]
        return True

    with suppress(OSError):
        heartbeat.beat(
            ws.folders, run.agent, {}, ws.clock.now(),
            session=(presence.get("local") or {}).get("session"), throttle=FOREVER,
            moment=ws.clock.interval(), count=count,
        )  # fmt: skip


def _is_reported(local: Mapping[str, Any], session: str) -> bool:
    """Whether hooks of this session have reported money."""
    counters = local.get("usage")
    sources = counters.values() if isinstance(counters, dict) else ()
    return any(
        isinstance(source, dict) and "usd" in source and session != ""
        and str(source.get("session")).partition(" ")[0] == session
        for source in sources
    )  # fmt: skip
