"""How many issues an agent has, and whether a dispatch gives it another. Pure."""

from collections.abc import Iterable
from typing import NamedTuple

from ghp_agents.claims.decision import Board
from ghp_agents.issues.issue import Issue, short
from ghp_agents.issues.order import due_or_last, urgency
from ghp_agents.jobs.explanation import Agent


class Room(NamedTuple):
    """The issues that an agent has, and how many a dispatch lets it have."""

    claimed: tuple[str, ...]
    assigned: tuple[str, ...]  # to it alone, and not claimed: the next one first
    most: int
    must_finish: bool = False  # it goes on with what it has claimed

    @property
    def has(self) -> tuple[str, ...]:
        """All that it has."""
        return self.claimed + self.assigned

    @property
    def left(self) -> int:
        """How many issues a dispatch could still give it; below 1 if there is no room."""
        return self.most - len(self.has)


def of_agent(board: Board, agent: Agent, most: int) -> Room:
    """What an agent has, as a dispatch counts it."""
    name = agent.candidate.name
    assigned = tuple(map(short, queues(board, [name])[name]))
    return Room(agent.holds, assigned, most, agent.is_healthy)


def changes(room: Room, name: str) -> list[str]:
    """The commands after which an agent has room for one issue: the last issues go first. None if
    it must finish claimed work first."""
    surplus = max(0, 1 - room.left)
    claimed = () if room.must_finish else room.claimed
    commands = [f"ghp agent-release {_number(issue)}" for issue in claimed]
    commands += [
        f"ghp agent-issue assign {_number(issue)} {name} --remove" for issue in room.assigned
    ]
    return [] if surplus > len(commands) else commands[len(commands) - surplus :][::-1]


def queues(board: Board, names: Iterable[str]) -> dict[str, list[Issue]]:
    """The issues that are assigned to one agent alone and not claimed, the next one first."""
    held: dict[str, list[Issue]] = {name: [] for name in names}
    for issue in board.issues:
        if len(issue.assignees) == 1 and issue.assignees[0] in held and not board.claim_of(issue):
            held[issue.assignees[0]].append(issue)
    return {name: sorted(queue, key=order) for name, queue in held.items()}


def order(issue: Issue) -> tuple[int, str]:
    """The place of an issue among those of equal assignment: by priority, then by due date."""
    return urgency(issue), due_or_last(issue)


def _number(name: str) -> str:
    return name.removeprefix("#")
