"""Waiting for an answer, visibly: the agent says that it waits, and stays alive meanwhile."""

import contextlib
from collections.abc import Callable, Iterator

from ghp_agents import pulse
from ghp_agents.model import escalation_record as record
from ghp_agents.model.escalation import Answer, Escalation
from ghp_agents.ports import StateStore
from ghp_agents.workspace import Workspace

LOOK_EVERY = 1.0  # seconds between two looks at what is known here
SLOW = 10.0  # a sync may take a tenth of the time
WAITING = "waiting"


def wait(
    ws: Workspace, store: StateStore, escalation: Escalation, *, timeout: float | None = None
) -> Answer | None:
    """The answer that closes the question, as soon as there is one; None after `timeout` seconds.

    What other clones say arrives by syncs, which all who wait in a clone share.
    """
    started = next_sync = ws.clock.now()
    with _presence(ws, escalation) as beat:
        while True:
            beat()
            answers = store.snapshot().files(record.answers_of(escalation.id))
            found = record.read_answers(answers)
            if found:
                return found[0]
            if ws.clock.now() >= next_sync:
                next_sync = _sync(ws, store, first=next_sync == started)
                continue
            left = LOOK_EVERY if timeout is None else started + timeout - ws.clock.now()
            if left <= 0:
                return None
            ws.clock.wait(min(LOOK_EVERY, left))


def _sync(ws: Workspace, store: StateStore, *, first: bool) -> float:
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
def _presence(ws: Workspace, escalation: Escalation) -> Iterator[Callable[[], None]]:
    """Beats that say what the agent waits for; afterwards it is what it was before.

    An agent that keeps no presence keeps none now.
    """
    agent = escalation.question.agent
    before = ws.presence(agent)

    def beat(status: object, action: object) -> None:
        said = {"status": status, "lastAction": pulse.clean_action(str(action))}
        session, pid = pulse.session(ws.environ)[1], pulse.agent_pid(ws.environ)
        with contextlib.suppress(OSError):  # nothing can be written: it waits unseen
            pulse.beat(
                ws.folders, agent, said, ws.clock.now(), session=session,
                throttle=ws.settings.throttle, pid=pid,
            )  # fmt: skip

    if before is None:
        yield lambda: None
        return
    try:
        yield lambda: beat(WAITING, f"Waiting for an answer: {escalation.question.text}")
    finally:
        if (ws.presence(agent) or {}).get("status") == WAITING:
            beat(before.get("status", "idle"), before.get("lastAction", ""))
