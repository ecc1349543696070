"""Wait for an answer visibly: presence shows that the agent waits, and heartbeats continue."""

from collections.abc import Callable

from ghp_agents.escalations import record
from ghp_agents.escalations.escalation import Answer, Escalation, decides
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import wait as presence_wait
from ghp_agents.presence.wait import LOOK_EVERY

WAITING = "waiting"
ABOUT = "Waiting for an answer:"


def wait(
    ctx: Context,
    escalation: Escalation,
    *,
    timeout: float | None = None,
    is_settled: Callable[[Snapshot], bool] = lambda _: False,
) -> Answer | None:
    """Wait for an answer by someone who may decide; of several, return the last. None after
    `timeout` seconds, or when the question needs no answer any more.

    Answers of other clones arrive by syncs. All waiting processes of a clone share them.
    """
    started = next_sync = ctx.ws.clock.now()
    with presence_wait.presence(ctx.ws, escalation.question.agent, WAITING, ABOUT) as beat:
        while True:
            beat(f"{ABOUT} {escalation.question.text}")
            snapshot = ctx.store.snapshot()
            answers = snapshot.files(record.answers_of(escalation.id))
            decisions = [
                answer
                for answer in record.read_answers(answers)
                if decides(escalation.question, answer, ctx.ws.settings.orchestrators)
            ]
            if decisions:
                return decisions[-1]
            if is_settled(snapshot):
                return None
            if ctx.ws.clock.now() >= next_sync:
                next_sync = presence_wait.sync(ctx, first=next_sync == started)
                continue
            left = LOOK_EVERY if timeout is None else started + timeout - ctx.ws.clock.now()
            if left <= 0:
                return None
            ctx.ws.clock.wait(min(LOOK_EVERY, left))
