"""Read what `explanation` decides on: one issue or one agent, as this clone knows them."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from ghp_agents.claims import choose_next, decision
from ghp_agents.claims.claim import is_mine
from ghp_agents.claims.decision import Board, Candidate
from ghp_agents.core.errors import NotFoundError, NotSetUpError
from ghp_agents.core.ids import Actor, AgentName, one_line
from ghp_agents.issues.issue import Issue, short
from ghp_agents.jobs import explanation, listing, open_pull, room
from ghp_agents.jobs.explanation import Agent, KeptBack, RuleStep, Turn
from ghp_agents.jobs.job_state import JobState
from ghp_agents.jobs.open_pull import PullTrace
from ghp_agents.jobs.room import Room
from ghp_agents.ports import Context
from ghp_agents.presence import capabilities, start_command, stopping
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import AgentView
from ghp_agents.pulls.pull import Pull
from ghp_agents.state.presence import number

UNKNOWN = "it is not known yet, so no process works for it"
MOST_AGENTS = 20  # whose turns are computed for one issue


class IssueExplanation(NamedTuple):
    """Why an issue is worked on, or not."""

    issue: Issue
    state: JobState
    holder: str  # who works on it; empty without a living holder
    steps: Sequence[RuleStep]  # of the rules that are the same for all agents
    turns: Sequence[Turn]
    left_out: int  # agents that were not asked
    starting: str  # the command that lets the holder continue, else the reader begin
    pull: Sequence[PullTrace] = ()  # what its open pull request waits for
    left: str = ""  # its holder in words, if nothing works for it
    rooms: Mapping[str, Room] = {}  # by agent, if a dispatch would choose one
    is_person: bool = False  # its holder
    left_by: str = ""  # who has claimed it, but is no longer at work


class AgentExplanation(NamedTuple):
    """Why an agent works, or is idle."""

    agent: Agent
    next: Issue | None  # not one that it has
    workable: int  # issues besides those that it has
    kept_back: Sequence[KeptBack]
    room: Room


class Candidates(NamedTuple):
    """The open issues, and the agents that could do them."""

    board: Board
    agents: Sequence[Agent]


def read(ctx: Context) -> Candidates:
    """Read the open issues and all agents. Raises GhpError."""
    snapshot = ctx.store.snapshot()
    views = presence.list_agents(ctx, snapshot)
    board = choose_next.read_board(ctx, ctx.world.claims, agents=views)
    board = replace(board, loose=_loose(ctx, board, views))
    orders = stopping.in_force(ctx, snapshot)
    agents = [_agent(ctx, board, view, is_ordered=view.name in orders) for view in views]
    return Candidates(board, agents)


def _loose(ctx: Context, board: Board, views: Iterable[AgentView]) -> frozenset[str]:
    """The claims of agents that may not continue, and those of the caller."""
    doubtful = {x.name for x in views if x.has_no_client or x.liveness is not Liveness.ACTIVE}
    me = Actor("")
    with suppress(NotSetUpError):
        me = ctx.ws.actor()
    return frozenset(
        lock.name
        for lock in board.held.values()
        if (lock.holder, lock.is_person) == (me.name, me.is_person)
        or (lock.holder in doubtful and not lock.is_person)
    )


def of_issue(ctx: Context, reference: str) -> IssueExplanation:
    """Explain an issue. Raises NotFoundError, GhpError."""
    board, agents = read(ctx)
    pulls = listing.open_pulls(ctx)
    issue = _issue(ctx, reference, pulls.values())
    state = listing.states(ctx, board, [issue], pulls)[issue.id]
    current = next((candidate for candidate in board.issues if candidate.id == issue.id), None)
    if current is None:
        return IssueExplanation(issue, state, "", [], [], 0, "")
    alive = [agent for agent in agents if agent.is_alive]
    lock = board.claim_of(current)
    claimed = (lock.holder or "") if lock else ""
    holder = claimed if lock and lock.name in board.living else ""
    steps = explanation.trace(board, current)
    turns = explanation.turns(board, current, alive[:MOST_AGENTS])
    opened = next((pulls[number] for number in current.numbers if number in pulls), None)
    waits = open_pull.trace(ctx, opened) if opened else ()
    is_person = bool(lock and lock.is_person)
    owner = next((x for x in agents if x.candidate.name == claimed and not is_person), None)
    left = owner.words if owner and owner.has_ended else ""
    if holder and not owner and not is_person:
        left = UNKNOWN
    starting = start_command.of_reader(ctx.ws, current.number)
    if left:
        kind = owner.kind if owner else ""
        starting = start_command.of_agent(current.number, claimed, kind)
    more = len(alive[MOST_AGENTS:])
    rooms = {} if lock or current.assignees else _rooms(ctx, board, turns)
    return IssueExplanation(
        current, state, holder, steps, turns, more, starting, waits, left, rooms,
        is_person=is_person, left_by="" if holder else claimed,
    )  # fmt: skip


def _rooms(ctx: Context, board: Board, turns: Sequence[Turn]) -> dict[str, Room]:
    """What the agents have that can do an issue without an agent."""
    most = ctx.ws.settings.jobs_per_agent
    able = [turn.agent for turn in turns if turn.can]
    return {agent.candidate.name: room.of_agent(board, agent, most) for agent in able}


def _issue(ctx: Context, reference: str, pulls: Iterable[Pull]) -> Issue:
    """The issue, also by the number of its open pull request."""
    try:
        return ctx.tracker.get(reference)
    except NotFoundError:
        number = reference.strip().removeprefix("#")
        opened = next((pull for pull in pulls if str(pull.number) == number), None)
        if opened is None or opened.issue is None:
            raise
        return ctx.tracker.get(opened.issue)


def of_agent(ctx: Context, name: str) -> AgentExplanation:
    """Explain an agent. Raises NotFoundError, GhpError."""
    board, agents = read(ctx)
    agent = next((view for view in agents if view.candidate.name == name), None)
    if agent is None:
        raise NotFoundError(
            f"No agent is called {one_line(name, 40)}.",
            hint="`ghp agent-status` lists agents; `ghp agent-issues` lists issues.",
        )
    ready = [
        issue
        for issue in decision.workable(board, agent.candidate)
        if short(issue) not in agent.holds
    ]
    return AgentExplanation(
        agent,
        decision.best(board, ready, agent.candidate),
        len(ready),
        explanation.kept_back(board, agent.candidate),
        room.of_agent(board, agent, ctx.ws.settings.jobs_per_agent),
    )


def _agent(ctx: Context, board: Board, view: AgentView, *, is_ordered: bool) -> Agent:
    who = Candidate(
        AgentName(view.name),
        max(1, number(view.presence, "epoch")),
        view.clone or (ctx.locks.clone if view.is_here else ""),
        capabilities.of(ctx.ws, view.name, view.presence),
    )
    mine = [
        short(issue)
        for issue in board.issues
        if (lock := board.claim_of(issue)) and is_mine(lock, who.name, who.epoch, who.clone)
    ]
    return Agent(
        who, view.liveness.value, is_ordered, tuple(mine), view.has_no_client,
        _passed_over(ctx, view), view.kind,
    )  # fmt: skip


def _passed_over(ctx: Context, view: AgentView) -> str:
    if view.name in ctx.ws.settings.orchestrators:
        return "it is an orchestrator"
    return "" if presence.is_at_work(view) else "it has registered, and nothing more"
