"""What happens in a simulated world, step by step: agents send messages, hear of them, and do what
they are asked."""

from ghp_agents.core.ids import AgentName
from ghp_agents.escalations.delivered import mark_told
from ghp_agents.messages import reply, service, undelivered
from ghp_agents.messages.message import CLAIMED, DONE, NEW, REVIEW, Message
from ghp_agents.messages.reply import ReplyResult, Saying
from ghp_agents.messages.service import Draft
from ghp_agents.ports import Context
from ghp_agents.workspace import Workspace
from tests.support import laws_of_messages as laws
from tests.support.acts import Act, Run, Step
from tests.support.context import make_context
from tests.support.world import AGENTS
from tests.support.world_records import DEAD_AFTER, Session

GROUPS = ("@all", "@orchestrator", "@capability:tests", "@security.news")
KINDS = ("note", "request", "note", "review", "question")
ENOUGH = 200  # steps after which an agent has heard all
TIMES = (0, 0, 400, 3_000)  # seconds: of a deadline, and until a message expires


def _context(run: Run, session: Session, ws: Workspace) -> Context:
    here = run.world.clones[session.clone]
    return make_context(ws, here.store, here.locks, run.world.tracker)


def _send(run: Run, step: Step) -> str | None:
    acting = run.acting(step)
    if acting is None:
        return "nobody"
    session, ws = acting
    ctx, number = _context(run, session, ws), step.number
    other = AGENTS[(step.agent + 1 + number % 3) % len(AGENTS)]
    group = GROUPS[number // 4 % len(GROUPS)]
    to = [[other], [group], [other, session.agent], [other]][number % 4]
    answered = [x.message for x in service.inbox(ctx, ctx.store.snapshot(), ws.agent())]
    about = answered[number % len(answered)].id if answered and number % 3 == 0 else ""
    ack, done, expires = (TIMES[number // some % 4] for some in (5, 7, 11))
    draft = Draft(
        to, f"Part {number}", kind=KINDS[number % len(KINDS)], reply_to=about, ack_within=ack,
        done_within=done, expires=expires,
    )  # fmt: skip
    result = service.send(ctx, draft)
    if not result.is_new:
        return "sent before"
    run.world.letters.append(result.message)
    laws.check_sent(run.world, session, ctx, result.message)
    return "sent"


def _hear(run: Run, step: Step) -> str | None:
    """The hook after a step of an agent, which may be killed before it notes what it printed."""
    acting = run.acting(step)
    if acting is None:
        return "nobody"
    session, ws = acting
    return _tell(run, session, ws, is_killed=step.number % 10 == 0)


def _tell(run: Run, session: Session, ws: Workspace, *, is_killed: bool = False) -> str:
    ctx = _context(run, session, ws)
    agent = AgentName(session.agent)
    texts = undelivered.texts(ctx, ctx.store.snapshot(), agent)
    if is_killed:
        return "cut off"
    laws.check_told(run.world, session, ctx, texts)
    mark_told(ws, agent, [key for _, key in texts if key])
    return "told" if texts else "nothing"


def _take_on(run: Run, step: Step) -> str | None:
    acting = run.acting(step)
    if acting is None:
        return "nobody"
    session, ws = acting
    ctx = _context(run, session, ws)
    letters = service.inbox(ctx, ctx.store.snapshot(), ws.agent())
    wanted = [x for x in letters if x.message.wants_work and x.state in (NEW, CLAIMED)]
    if not wanted:
        return "nothing"
    letter = wanted[step.number % len(wanted)]
    with run.by("claim", session.agent):
        result = reply.claim(ctx, letter.message.id)
    laws.check_claimed(run.world, session, result)
    return "shared" if letter.message.is_shared else "claimed"


def _report(run: Run, step: Step) -> str | None:
    acting = run.acting(step)
    if acting is None:
        return "nobody"
    session, ws = acting
    ctx = _context(run, session, ws)
    letters = service.inbox(ctx, ctx.store.snapshot(), ws.agent())
    mine = [x for x in letters if x.state_of(session.agent) == CLAIMED]
    if not mine:
        return "nothing"
    letter = mine[step.number % len(mine)]
    with run.by("claim", session.agent):
        result = _finish(ctx, letter.message, fails=step.number % 3 == 0)
    laws.check_claimed(run.world, session, result)
    return result.reply.kind


def _finish(ctx: Context, message: Message, *, fails: bool) -> ReplyResult:
    if message.kind == REVIEW and not fails:
        return reply.finish_review(ctx, message.id, Saying(DONE, verdict="approve"))
    return reply.finish(ctx, message.id, fails=fails)


def come_together(run: Run) -> None:
    """In the end, every agent hears all that there is for it, where it was last; then all but one
    are silent."""
    for agent in AGENTS:
        session, ctx = _last(run, agent)
        for _ in range(ENOUGH):
            if _tell(run, session, ctx.ws) == "nothing":
                break
        laws.check_heard(run.world, session, ctx)
        laws.check_claims(ctx)
    session, ctx = _last(run, AGENTS[0])
    for _ in range(2):  # a claim that is heard of for the first time is a sign of life
        run.world.clock.wait(DEAD_AFTER + 1)
        for clone in run.world.clones.values():
            clone.store.sync()
        letters = service.known_letters(ctx, ctx.store.snapshot())
    # A heartbeat in the future of this machine's clock is no silence until the clock is past it.
    if all(at <= ctx.ws.clock.now() for at in ctx.store.snapshot().beaten().values()):
        laws.check_lapsed(session, letters)


def _last(run: Run, agent: str) -> tuple[Session, Context]:
    session = run.world.sessions[agent][-1]
    ws = run.world.workspace(session.clone, agent, session.token)
    return session, _context(run, session, ws)


OF_MESSAGES: dict[str, Act] = {
    "sends": _send, "hears": _hear, "takes-on": _take_on, "reports": _report,
}  # fmt: skip
