"""Waiting: who waits for whom by what this clone knows, and a question to a person where agents
wait for each other."""

from collections.abc import Iterable, Mapping, Sequence

from ghp_agents.leases import wait_graph
from ghp_agents.leases.wait_graph import Chain, Wait
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.state.presence import issue_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # agent-status loads this page
    from ghp_agents.escalations.service import EscalateResult
    from ghp_agents.ports import IssueTracker, LockService, Snapshot, StateStore
    from ghp_agents.presence.service import AgentView
    from ghp_agents.workspace import Workspace

BLOCKED = "blocked"
SHOWN = 3  # chains of one who waits
_LIVES = (Liveness.ACTIVE, Liveness.STALE)


def waits(
    ws: "Workspace",
    store: "StateStore",
    leaser: "LockService",
    tracker: "IssueTracker",
    snapshot: "Snapshot",
    views: Sequence["AgentView"],
) -> list[Wait]:
    """Who waits for whom: for an issue of another, or in the queue for a lease.

    The dead and the stopped wait for nobody. Who is not known here is taken to live.
    """
    found: list[Wait] = []
    if any("generation" in view.presence for view in views):
        found += _for_issues(leaser, tracker, views)
    if snapshot.files(presence.LEASES):
        from ghp_agents.leases import service as lease

        found += wait_graph.for_leases(lease.queue(ws, store, leaser, snapshot, views))
    ended = {view.name for view in views if view.liveness not in _LIVES}
    return sorted({wait for wait in found if wait.waiter not in ended})


def _for_issues(
    leaser: "LockService", tracker: "IssueTracker", views: Iterable["AgentView"]
) -> list[Wait]:
    issues = tracker.known()
    if not any(issue.blocked_by for issue in issues):
        return []
    from ghp_agents.locks.names import PREFIX, claimed_issue

    known = {claimed_issue(lease.name): lease for lease in leaser.known(PREFIX) if lease.holder}
    claims = {number: lease for number, lease in known.items() if number is not None}
    hands = ((view.name, issue_of(view.presence)) for view in views)
    in_hand = {name: number for name, number in hands if number is not None}
    return wait_graph.for_issues(issues, claims, in_hand)


def shown(views: Iterable["AgentView"], known: Iterable[Wait]) -> list["AgentView"]:
    """The agents as they are shown: who waits is blocked, and says by whom and for what."""
    by_waiter = wait_graph.of_each(known)
    return [_blocked(view, by_waiter) for view in views]


def _blocked(view: "AgentView", by_waiter: Mapping[str, Sequence[Wait]]) -> "AgentView":
    mine = by_waiter.get(view.name)
    if not mine:
        return view
    for_whom = [{"agent": wait.holder, "what": wait.what} for wait in mine]
    said = {**view.presence, "status": BLOCKED, presence.WAITS_FOR: for_whom}
    return view._replace(presence=said)


def sentences(known: Sequence[Wait], names: Iterable[str]) -> list[str]:
    """The chains of waiting that begin with `names`, one sentence each. In a long queue everybody
    waits for all before them; then the first are told and the others counted."""
    by_waiter = wait_graph.of_each(known)
    found: list[str] = []
    for name in names:
        mine = by_waiter.get(name, [])
        found += [
            wait_graph.sentence(wait_graph.onwards(by_waiter, first)) for first in mine[:SHOWN]
        ]
        found += [wait_graph.rest(name, len(mine) - SHOWN)] if len(mine) > SHOWN else []
    return found


# ----------------------------------------------------------------------------- circles


def escalate_cycles(
    ws: "Workspace",
    store: "StateStore",
    tracker: "IssueTracker",
    known: Sequence[Wait],
    views: Sequence["AgentView"],
) -> list["EscalateResult"]:
    """Ask a person who goes first where agents wait for each other.

    Each circle is asked about once, by whatever clones and however often: in the name of the first
    of its agents, by the clone in which that one lives.
    """
    here = {view.name: view.is_here for view in views}
    mine = [circle for circle in wait_graph.circles(known) if here.get(_asker(circle, here), False)]
    if not mine:
        return []
    from ghp_agents.escalations.escalation import Question
    from ghp_agents.escalations.service import ask_once

    return [
        ask_once(
            ws,
            store,
            tracker,
            Question(
                _asker(circle, here),
                wait_graph.question(circle),
                _issue(circle),
                wait_graph.options(circle),
            ),
            urgency="high",
        )
        for circle in mine
    ]


def _asker(circle: Chain, agents: Iterable[str]) -> str:
    """The first agent of a circle; empty where all are people, who can talk."""
    return next((wait.waiter for wait in circle if wait.waiter in agents), "")


def _issue(circle: Chain) -> int | None:
    """The issue at which the question is asked: the first that is waited for."""
    from ghp_agents.locks.names import claimed_issue

    numbers = [claimed_issue(wait.right.partition("@")[0]) for wait in circle]
    return next((number for number in numbers if number is not None), None)
