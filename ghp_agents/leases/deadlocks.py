"""Deadlocks: who waits for whom, as far as this clone knows, and an escalation of each cycle."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from ghp_agents.hotpath.quoting import file
from ghp_agents.leases import wait_graph
from ghp_agents.leases.wait_graph import Chain, Wait
from ghp_agents.ports import Context
from ghp_agents.presence import service as presence
from ghp_agents.state.cause import CIRCLE
from ghp_agents.state.presence import issue_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # agent-status loads this module
    from ghp_agents.escalations.service import EscalateResult
    from ghp_agents.issues.issue import Issue
    from ghp_agents.leases.world import LeaseWorld
    from ghp_agents.ports import Snapshot
    from ghp_agents.presence.service import AgentView
    from ghp_agents.state.sender_budget import SenderBudget

BLOCKED = "blocked"
SHOWN = 3  # chains for each waiter


def waits(
    ctx: Context,
    snapshot: "Snapshot",
    views: Sequence["AgentView"],
    issues: "Sequence[Issue] | None" = None,
    world: "Callable[[], LeaseWorld] | None" = None,
) -> list[Wait]:
    """Who waits for whom: for an issue that another holds, or in the queue for a lease.

    Dead and stopped agents wait for nobody. An agent unknown here counts as alive. `issues` are
    the open ones, if they were read before; `world` has the leases, if the caller reads them, too.
    """
    waits: list[Wait] = []
    if any("generation" in view.presence for view in views):
        waits += _for_issues(ctx, views, ctx.tracker.known() if issues is None else issues)
    if snapshot.present(presence.LEASES):
        from ghp_agents.leases import service as lease
        from ghp_agents.leases.world import LeaseWorld

        current = world() if world else LeaseWorld(ctx, snapshot, views)
        waits += wait_graph.for_leases(lease.queue(current))
    ended = {view.name for view in views if view.liveness not in presence.LIVING}
    return sorted({wait for wait in waits if wait.waiter not in ended})


def _for_issues(
    ctx: Context, views: Iterable["AgentView"], issues: "Sequence[Issue]"
) -> list[Wait]:
    if not any(issue.blocked_by for issue in issues):
        return []
    hands = ((view.name, issue_of(view.presence)) for view in views)
    in_hand = {name: number for name, number in hands if number is not None}
    return wait_graph.for_issues(issues, ctx.world.claims, in_hand)


def shown(views: Iterable["AgentView"], waits: Iterable[Wait]) -> list["AgentView"]:
    """The agents as shown: a waiting agent is blocked, with the holder and what it waits for."""
    by_waiter = wait_graph.of_each(waits)
    return [_blocked(view, by_waiter) for view in views]


def _blocked(view: "AgentView", by_waiter: Mapping[str, Sequence[Wait]]) -> "AgentView":
    mine = by_waiter.get(view.name)
    if not mine:
        return view
    for_whom = [{"agent": wait.holder, "what": wait.what} for wait in mine]
    fields = {**view.presence, "status": BLOCKED, presence.WAITS_FOR: for_whom}
    return view._replace(presence=fields)


def sentences(waits: Sequence[Wait], names: Iterable[str]) -> list[str]:
    """The wait chains that begin with `names`, one sentence each. In a long queue everybody waits
    for all before them: the first chains are listed, the others counted."""
    by_waiter = wait_graph.of_each(waits)
    lines: list[str] = []
    for name in names:
        mine = by_waiter.get(name, [])
        lines += [
            wait_graph.sentence(wait_graph.onwards(by_waiter, first)) for first in mine[:SHOWN]
        ]
        lines += [wait_graph.rest(name, len(mine) - SHOWN)] if len(mine) > SHOWN else []
    return lines


def escalate_cycles(
    ctx: Context, waits: Sequence[Wait], views: Sequence["AgentView"], budget: "SenderBudget"
) -> list["EscalateResult"]:
    """Ask a person who goes first in a cycle of waiting agents. `budget` bounds what the agents of
    another clone cause.

    Each cycle is escalated once, over all clones: in the name of its first agent, by the clone in
    which that agent lives.
    """
    here = {view.name: view.is_here for view in views}
    mine = [circle for circle in wait_graph.circles(waits) if here.get(_asker(circle, here), False)]
    if not mine:
        return []
    from ghp_agents.escalations import service as escalation
    from ghp_agents.escalations.escalation import Question

    wanted = {
        Question(
            _asker(circle, here),
            wait_graph.question(circle),
            _issue(circle),
            wait_graph.options(circle),
            CIRCLE,
            wait_graph.subjects(circle),
        ): circle
        for circle in mine
    }
    clones = {view.name: f"clone {file(str(view.clone))}" for view in views if not view.is_here}
    new = budget.first(
        "circles of agents that wait",
        escalation.unasked(ctx.world, wanted),
        lambda question: [clones[x.waiter] for x in wanted[question] if x.waiter in clones],
    )
    return escalation.ask_all(ctx, [(question, "high") for question in new])


def _asker(circle: Chain, agents: Iterable[str]) -> str:
    """The first agent of a cycle; empty if all are people, who can talk."""
    return next((wait.waiter for wait in circle if wait.waiter in agents), "")


def _issue(circle: Chain) -> int | None:
    """The issue of the question: the first issue that is waited for."""
    from ghp_agents.locks.names import claimed_issue

    numbers = [claimed_issue(wait.right.partition("@")[0]) for wait in circle]
    return next((number for number in numbers if number is not None), None)
