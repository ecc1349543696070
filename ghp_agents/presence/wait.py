"""Wait for others visibly: presence shows what the agent waits for, and syncs bring news."""

import contextlib
from collections.abc import Callable, Iterator

from ghp_agents.hotpath import heartbeat
from ghp_agents.ports import Context
from ghp_agents.presence import wait_status
from ghp_agents.workspace import Workspace

LOOK_EVERY = 1.0  # seconds between two looks at the local state
SLOW = 10.0  # pause after a sync in multiples of its duration: syncs take a tenth of the time

Beat = Callable[[str], None]


def sync(ctx: Context, *, first: bool) -> float:
    """Sync, unless another process just did; return the time of the next sync."""
    now, pause = ctx.ws.clock.now(), ctx.ws.settings.sync_every
    status = ctx.store.sync_status()
    if status.remote is None:
        return now + pause
    unsent = first and (status.unsent or status.waiting)
    if status.news_at is not None and now - pause < status.news_at <= now and not unsent:
        return status.news_at + pause
    report = ctx.store.sync(paced=True)
    if not report.fetched and not report.trouble:
        ctx.store.sync(push=False)  # too soon to push; hosts allow more fetches than pushes
    # While a sync runs, nothing checks the local state. So a slow remote is synced less often.
    took = ctx.ws.clock.now() - now
    return now + took + max(pause, SLOW * took)


@contextlib.contextmanager
def presence(ws: Workspace, agent: str | None, status: str, about: str) -> Iterator[Beat]:
    """Heartbeats with a status and an action that begins with `about`. Afterwards the agent's
    former status is restored, also if this process is killed.

    Does nothing for a person, or for an agent without presence.
    """
    wait_status.restore_status(ws, [agent] if agent else [])
    before = ws.presence(agent) if agent else None
    if agent is None or before is None:
        yield lambda action: None
        return
    with wait_status.save_status(ws, agent, before, status, about):
        try:
            yield lambda action: _beat(ws, agent, status, action)
        finally:
            if (ws.presence(agent) or {}).get("status") == status:
                _beat(ws, agent, before.get("status", "idle"), before.get("lastAction", ""))


def _beat(ws: Workspace, agent: str, status: object, action: object) -> None:
    fields = {"status": status, "lastAction": heartbeat.clean_action(str(action))}
    session, pid = heartbeat.session(ws.environ)[1], heartbeat.agent_pid(ws.environ)
    with contextlib.suppress(OSError):  # no writable folder: waiting is not shown
        heartbeat.beat(
            ws.folders, agent, fields, ws.clock.now(), session=session,
            throttle=ws.settings.throttle, pid=pid, moment=ws.clock.interval(),
        )  # fmt: skip
