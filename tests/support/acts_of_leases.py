"""What happens in a simulated world, step by step: leases and edits."""

from ghp_agents.claims.claim import fence_of
from ghp_agents.core.errors import NotFoundError
from ghp_agents.core.ids import AgentName
from ghp_agents.guard import evaluate as ruling
from ghp_agents.hotpath import implicit_leases as touched
from ghp_agents.hotpath import policy_cache as rulebook
from ghp_agents.leases import service as leases
from ghp_agents.leases.hold import Hold
from ghp_agents.leases.request import LeaseRequest
from ghp_agents.leases.world import read_all
from ghp_agents.presence import service as presence
from tests.support import laws
from tests.support.acts import Act, Run, Step
from tests.support.context import make_context
from tests.support.taking import take
from tests.support.world_files import PATHS

THINGS = (
    LeaseRequest(name="db"),
    LeaseRequest(name="db", strict=True),
    LeaseRequest(patterns=("src/",)),
    LeaseRequest(patterns=("src/a.py",)),
    LeaseRequest(patterns=("src/",), strict=True),
    LeaseRequest(patterns=("src/b.py",), strict=True),
    LeaseRequest(patterns=("docs/",), ttl=500),
    LeaseRequest(name="db", ttl=500),
)


def _lease(run: Run, step: Step) -> str | None:
    acting = run.acting(step)
    if acting is None:
        return "nobody"
    session, ws = acting
    here, wanted = run.world.clones[session.clone], THINGS[step.number % len(THINGS)]
    with run.by("lease", session.agent):
        got = take(make_context(ws, here.store, here.locks, run.world.tracker), wanted)
    if wanted.strict:
        laws.check_strict(run.world, session, got.hold)
        run.world.strict.append(got.hold)
    laws.check_holds(run.world, session.clone)
    return "granted" if got.is_new else "kept"


def _give_back(run: Run, step: Step) -> str | None:
    acting = run.acting(step)
    if acting is None:
        return "nobody"
    session, ws = acting
    here = run.world.clones[session.clone]
    mine = [hold for hold in _holds(run, session.clone) if hold.holder == session.agent]
    if not mine:
        return "nothing"
    word = f"L-{mine[step.number % len(mine)].id}"
    with run.by("give-back", session.agent):
        try:
            leases.release(make_context(ws, here.store, here.locks), [word])
        except NotFoundError:  # it ended while it was looked at
            return "ended"
    return None


def _edit(run: Run, step: Step) -> str | None:
    """An agent wants to edit, and asks before it does."""
    acting = run.acting(step)
    if acting is None:
        return "nobody"
    session, ws = acting
    here, path = run.world.clones[session.clone], PATHS[step.number % len(PATHS)]
    presence.heartbeat(ws, here.store, AgentName(session.agent), {})
    before = laws.rivals(run.world, session, path)
    rulebook.drop(ws.home_folder)  # a book is stamped by refs, and these are in memory
    ctx = make_context(ws, here.store, here.locks, run.world.tracker)
    (verdict,) = ruling.judge(ctx, AgentName(session.agent), [path], editing=True)
    if verdict.is_refused:
        return f"denied, {verdict.kind}"
    fence = fence_of(
        ctx.world.claim_locks, session.agent, ws.presence(session.agent) or {}, here.locks.clone
    )
    laws.require(fence is None, "a fenced holder edits nothing", session, path, fence)
    still = before & laws.rivals(run.world, session, path)
    laws.require(not still, "nobody edits what another living one holds", session, path, still)
    mine = touched.find(ws.folders, path, ws.place.git_dir)
    laws.check_edit(run.world, session, path, mine)
    return "allowed"


def _holds(run: Run, clone: int) -> list[Hold]:
    snapshot = run.world.clones[clone].store.snapshot()
    return [log.hold() for log in read_all(snapshot)[0] if log.is_open and log.granted]


OF_LEASES: dict[str, Act] = {"leases": _lease, "gives-back": _give_back, "edits": _edit}
