"""Which agent gets which issue: the decision for all agents at once. Pure.

It gives work in the order of `decision.Rank`: by priority, due date, earlier work, age. Of agents
that are equally near to an issue, the one with the least work gets it.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from ghp_agents.claims import decision
from ghp_agents.claims.choose_next import WORDS
from ghp_agents.claims.decision import Board, Candidate
from ghp_agents.issues.capabilities import missing
from ghp_agents.issues.issue import Issue
from ghp_agents.issues.job_fields import due
from ghp_agents.jobs import room
from ghp_agents.jobs.explanation import Agent
from ghp_agents.locks.lock import Lock

SOMEBODY = Candidate("")  # an agent that can do everything and is assigned to nothing
NO_ROOM, NOBODY_ABLE = "waiting for an agent with room", "reserved for other agents"
NO_AGENT = "waiting for an agent: none is at work"
DEAD = "claimed by agents that are not alive; `ghp agent-sweep` frees them"
WAITS_FOR_DEAD = "assigned by people to agents that are not alive"
NEAREST = 8  # agents that are tried for an issue because of their earlier work


class Limits(NamedTuple):
    """How much is given out."""

    per_agent: int = 1  # issues of one agent, claimed and assigned


class Assignment(NamedTuple):
    """An issue that gets an agent, or only loses one."""

    issue: Issue
    to: str  # empty: it goes back to the queue
    why: str
    was: tuple[str, ...] = ()  # who loses it


class DispatchPlan(NamedTuple):
    """What to assign, and why the other issues are not assigned."""

    assignments: Sequence[Assignment]
    waiting: Mapping[str, int]  # issues, by the reason


def plan(
    board: Board,
    agents: Sequence[Agent],
    given: Mapping[int, str],
    limits: Limits,
) -> DispatchPlan:
    """Decide for all agents. `given` are the agents that an earlier dispatch chose, by issue: only
    these assignments are taken back, if their agent is dead, told to stop or has too much."""
    load = {agent.candidate.name: len(agent.holds) for agent in agents}
    queues = room.queues(board, load)
    for name, queue in queues.items():
        load[name] += len(queue)
    lost = dict(_taken_back(board, agents, queues, given, load, limits.per_agent))
    for name, _ in lost.values():
        load[name] -= 1
    free = _without(board, {number: name for number, (name, _) in lost.items()})
    waiting: dict[str, int] = {}
    ready: list[Issue] = []
    dead = {agent.candidate.name for agent in agents if not agent.is_alive}
    for issue in free.issues:
        lock = free.claim_of(issue)
        if lock or issue.assignees:
            words = _without_agent(free, issue, lock, dead)
            waiting |= {words: waiting.get(words, 0) + 1} if words else {}
            continue
        obstacle = next(decision.obstacles(free, issue, SOMEBODY), None)
        if obstacle is None:
            ready.append(issue)
        else:
            words = WORDS[obstacle.rule][0]
            waiting[words] = waiting.get(words, 0) + 1
    able = [agent for agent in agents if agent.can_act]
    chosen = _Giving(free, able, load, limits.per_agent)
    assignments = [_made(issue, name, why, lost) for issue, name, why in chosen.pairs(ready)]
    waiting |= chosen.left
    served = {assignment.issue.number for assignment in assignments}
    assignments += [
        Assignment(issue, "", why, (name,))
        for issue in free.issues
        if issue.number in lost and issue.number not in served
        for name, why in [lost[issue.number]]
    ]
    return DispatchPlan(assignments, waiting)


def _without_agent(board: Board, issue: Issue, lock: Lock | None, dead: Set[str]) -> str:
    """Why nobody works on an issue that has an agent; empty if somebody can."""
    if lock:
        return "" if lock.name in board.living or lock.is_person else DEAD
    return WAITS_FOR_DEAD if dead >= {*issue.assignees} else ""


def doubled(issues: Iterable[Issue], given: Mapping[int, Sequence[str]]) -> Iterator[Assignment]:
    """The issues that dispatches in two clones gave to several agents at once: the last one keeps
    it. `given` are all agents that dispatches chose, by issue, in ledger order."""
    for issue in issues:
        chosen = [name for name in given.get(issue.number, ()) if name in issue.assignees]
        if len(issue.assignees) > 1 and {*issue.assignees} == {*chosen}:
            others = tuple(name for name in issue.assignees if name != chosen[-1])
            yield Assignment(issue, "", f"{chosen[-1]} got it from another dispatch", others)


def _made(issue: Issue, name: str, why: str, lost: Mapping[int, tuple[str, str]]) -> Assignment:
    before = lost.get(issue.number)
    if before is None:
        return Assignment(issue, name, why)
    return Assignment(issue, name, f"{before[1]}; {why}", (before[0],))


def _taken_back(
    board: Board,
    agents: Iterable[Agent],
    queues: Mapping[str, Sequence[Issue]],
    given: Mapping[int, str],
    load: Mapping[str, int],
    most: int,
) -> Iterator[tuple[int, tuple[str, str]]]:
    """The issues that their agents lose, with the reason: the last ones of a queue first."""
    for agent in agents:
        name = agent.candidate.name
        mine = [issue for issue in queues[name] if given.get(issue.number) == name]
        if not agent.is_alive or agent.told_to_stop:
            why = "was told to stop" if agent.is_alive else f"is {agent.liveness}"
        else:
            surplus = max(0, load[name] - most)
            mine = mine[len(mine) - min(surplus, len(mine)) :]
            why = "has too much"
        yield from ((issue.number, (name, f"{name} {why}")) for issue in mine)


def _without(board: Board, lost: Mapping[int, str]) -> Board:
    """The board without the assignments that are taken back."""
    if not lost:
        return board
    issues = [
        issue._replace(assignees=()) if issue.number in lost else issue for issue in board.issues
    ]
    return replace(board, issues=issues)


class _Giving:
    """Gives issues to agents until none has room."""

    def __init__(
        self, board: Board, agents: Sequence[Agent], load: Mapping[str, int], most: int
    ) -> None:
        self._board, self._most = board, most
        names = [agent.candidate.name for agent in agents]
        # An agent whose budget is used up has no room.
        self._load = {x: max(load[x], most) if x in board.spent else load[x] for x in names}
        self._agents = agents
        self._heaps: dict[frozenset[str], list[tuple[int, str]]] = {}
        self._able: dict[tuple[str, ...], frozenset[str]] = {}
        self.left: dict[str, int] = {}

    def pairs(self, ready: Sequence[Issue]) -> Iterator[tuple[Issue, str, str]]:
        """Each issue that gets an agent, the agent, and why; the others are counted in `left`."""
        for _, group in groupby(sorted(ready, key=room.order), key=room.order):
            issues = [*group]
            taken: set[str] = set()
            for issue, name, nearness in self._near(issues):
                if issue.id not in taken and self._has_room(name):
                    taken.add(issue.id)
                    yield issue, name, self._give(issue, name, nearness)
            for issue in issues:
                if issue.id in taken:
                    continue
                able = self._able_to_do(issue)
                least = self._least(able)
                if least is None:
                    nobody = NOBODY_ABLE if self._agents else NO_AGENT
                    words = NO_ROOM if able else nobody
                    self.left[words] = self.left.get(words, 0) + 1
                else:
                    yield issue, least, self._give(issue, least, 0)

    def _near(self, issues: Sequence[Issue]) -> list[tuple[Issue, str, int]]:
        """Pairs of which the agent knows a relation of the issue: the nearest first, then the
        oldest issue, then the agent with the least work."""
        if not any(self._has_room(name) for name in self._load):
            return []
        ranked: list[tuple[int, int, int, str]] = []
        for at, issue in enumerate(issues):
            nearness = decision.nearest(self._board, issue)
            able = self._able_to_do(issue) if nearness else frozenset[str]()
            pairs = [
                (-nearness[name], at, self._load[name], name)
                for name in able.intersection(nearness)
                if self._has_room(name)
            ]
            ranked += heapq.nsmallest(NEAREST, pairs)
        return [(issues[at], name, -nearness) for nearness, at, _, name in sorted(ranked)]

    def _able_to_do(self, issue: Issue) -> frozenset[str]:
        """The agents whose capabilities suffice, without the one that failed at it."""
        able = self._capable(issue)
        failed = decision.handed_over_by(self._board, issue)
        return able - {failed} if failed else able

    def _capable(self, issue: Issue) -> frozenset[str]:
        wanted = tuple(missing(issue, ("",)))
        if wanted not in self._able:
            self._able[wanted] = frozenset(
                agent.candidate.name
                for agent in self._agents
                if not missing(issue, agent.candidate.capabilities)
            )
        return self._able[wanted]

    def _least(self, able: frozenset[str]) -> str | None:
        """The agent with the least work among `able`; None if none has room."""
        heap = self._heaps.get(able)
        if heap is None:
            heap = self._heaps[able] = sorted((self._load[name], name) for name in able)
        while heap and heap[0][0] < self._load[heap[0][1]]:
            heapq.heapreplace(heap, (self._load[heap[0][1]], heap[0][1]))
        return heap[0][1] if heap and self._has_room(heap[0][1]) else None

    def _has_room(self, name: str) -> bool:
        return self._load[name] < self._most

    def _give(self, issue: Issue, name: str, nearness: int) -> str:
        """Count the issue for the agent, and return why the agent gets it."""
        self._load[name] += 1
        date = due(issue)
        parts = [f"priority {issue.priority}", f"due {date}" if date else ""]
        parts.append(f"it knows {nearness} of its relations" if nearness else "")
        parts.append(f"its issue {self._load[name]} of {self._most}")
        return ", ".join(filter(None, parts))
