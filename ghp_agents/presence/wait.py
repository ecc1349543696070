"""Waiting for others, visibly: an agent says what it waits for, and hears what other clones say."""

import contextlib
from collections.abc import Callable, Iterator

from ghp_agents.hotpath import heartbeat
from ghp_agents.ports import StateStore
from ghp_agents.presence import wait_status
from ghp_agents.workspace import Workspace

LOOK_EVERY = 1.0  # seconds between two looks at what is known here
SLOW = 10.0  # a sync may take a tenth of the time

Beat = Callable[[str], None]


def sync(ws: Workspace, store: StateStore, *, first: bool) -> float:
    """Sync, unless another process just did; answers when it is time for the next one."""
    now, pause = ws.clock.now(), ws.settings.sync_every
    standing = store.standing()
    if standing.remote is None:
        return now + pause
    unsaid = first and (standing.unsent or standing.waiting)
    if standing.news_at is not None and now - pause < standing.news_at <= now and not unsaid:
        return standing.news_at + pause
    report = store.sync(paced=True)
    if not report.fetched and not report.trouble:
        store.sync(push=False)  # too soon to send; hosts mind reading much less
    # While a sync hangs nobody looks at what is said in this clone, so a slow remote is asked less.
    took = ws.clock.now() - now
    return now + took + max(pause, SLOW * took)


@contextlib.contextmanager
def presence(ws: Workspace, agent: str | None, status: str, about: str) -> Iterator[Beat]:
    """Beats with a status and what is waited for, which begins with `about`; afterwards the agent
    is what it was before, also if this process is killed.

    A person, and an agent that keeps no presence, keep none now.
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
    said = {"status": status, "lastAction": heartbeat.clean_action(str(action))}
    session, pid = heartbeat.session(ws.environ)[1], heartbeat.agent_pid(ws.environ)
    with contextlib.suppress(OSError):  # nothing can be written: it waits unseen
        heartbeat.beat(
            ws.folders, agent, said, ws.clock.now(), session=session,
            throttle=ws.settings.throttle, pid=pid, moment=ws.clock.interval(),
        )  # fmt: skip
