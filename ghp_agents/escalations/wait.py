"""Waiting for an answer, visibly: the agent says that it waits, and stays alive meanwhile."""

from ghp_agents.escalations import record
from ghp_agents.escalations.escalation import Answer, Escalation, may_decide
from ghp_agents.ports import StateStore
from ghp_agents.presence import wait as presence_wait
from ghp_agents.presence.wait import LOOK_EVERY
from ghp_agents.workspace import Workspace

WAITING = "waiting"
ABOUT = "Waiting for an answer:"


def wait(
    ws: Workspace, store: StateStore, escalation: Escalation, *, timeout: float | None = None
) -> Answer | None:
    """The answer to the question of who may decide it, as soon as there is one, and of several the
    last; None after `timeout` seconds.

    What other clones say arrives by syncs, which all who wait in a clone share.
    """
    started = next_sync = ws.clock.now()
    with presence_wait.presence(ws, escalation.question.agent, WAITING, ABOUT) as beat:
        while True:
            beat(f"{ABOUT} {escalation.question.text}")
            answers = store.snapshot().files(record.answers_of(escalation.id))
            found = [
                each
                for each in record.read_answers(answers)
                if may_decide(each.by, ws.settings.orchestrators)
            ]
            if found:
                return found[-1]
            if ws.clock.now() >= next_sync:
                next_sync = presence_wait.sync(ws, store, first=next_sync == started)
                continue
            left = LOOK_EVERY if timeout is None else started + timeout - ws.clock.now()
            if left <= 0:
                return None
            ws.clock.wait(min(LOOK_EVERY, left))
