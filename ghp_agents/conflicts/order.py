"""The order of merging in which the fewest agents have to resolve conflicts.

Of two that conflict, the one that is merged later resolves. So the agents that resolve nothing are
a set without conflicts, and it should be as large as possible. They are merged first. Finished work
is never kept back for work that is not.
"""

from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import NamedTuple

EXACT = 24  # agents that are connected by conflicts; for more the result may not be the best
_SIZE = 1_000  # one more agent counts more than any number of preferred ones
_FINISHED = _SIZE**3  # one that has finished counts more than any number of others


class MergeOrder(NamedTuple):
    """The best order of merging: those that resolve nothing, then those that resolve conflicts."""

    free: tuple[int, ...]
    resolving: tuple[int, ...]


def best_order(
    number: int,
    conflicts: Iterable[tuple[int, int]],
    blocked: Collection[int] = (),
    preferred: Collection[int] = (),
    finished: Collection[int] = (),
) -> MergeOrder:
    """The best order for the agents 0 to `number` - 1. `blocked` ones conflict with the main
    branch, so they resolve in any order. Of the `finished`, as many as possible are free. Where
    several orders are best, the `preferred` are free.
    """
    near: list[set[int]] = [set() for _ in range(number)]
    for agent, other in conflicts:
        near[agent].add(other)
        near[other].add(agent)
    free: set[int] = set()
    for part in _parts(near, blocked):
        weights = {
            agent: _FINISHED * (agent in finished) + _SIZE + (agent in preferred) for agent in part
        }
        choose = _exact if len(part) <= EXACT else _greedy
        free |= choose(part, near, weights)
    rest = [agent for agent in range(number) if agent not in free]
    rest.sort(key=lambda x: (x in blocked, x not in finished, len(near[x]), x))
    return MergeOrder(tuple(sorted(free)), tuple(rest))


def _parts(near: Sequence[set[int]], blocked: Collection[int]) -> list[list[int]]:
    """The agents that are not blocked, in parts without conflicts among them."""
    left = [agent for agent in range(len(near)) if agent not in blocked]
    visited: set[int] = {*blocked}
    parts: list[list[int]] = []
    for start in left:
        part, waiting = [], [start]
        while waiting:
            agent = waiting.pop()
            if agent not in visited:
                visited.add(agent)
                part.append(agent)
                waiting += near[agent] - visited
        if part:
            parts.append(sorted(part))
    return parts


def _exact(part: list[int], near: Sequence[set[int]], weights: dict[int, int]) -> set[int]:
    """The heaviest set without conflicts: with or without the agent that has most of them."""
    at = {agent: 1 << index for index, agent in enumerate(part)}
    masks = [sum(at[other] for other in near[agent] if other in at) for agent in part]

    @cache
    def best(left: int) -> tuple[int, int]:
        if not left:
            return 0, 0
        inside = [index for index in range(len(part)) if left >> index & 1]
        most = max(inside, key=lambda index: ((masks[index] & left).bit_count(), -index))
        bit = 1 << most
        if not masks[most] & left:
            return sum(weights[part[index]] for index in inside), left
        weight, chosen = best(left & ~bit & ~masks[most])
        taken = weight + weights[part[most]], chosen | bit
        skipped = best(left & ~bit)
        return taken if taken[0] >= skipped[0] else skipped

    chosen = best((1 << len(part)) - 1)[1]
    return {agent for agent in part if at[agent] & chosen}


def _greedy(part: list[int], near: Sequence[set[int]], weights: dict[int, int]) -> set[int]:
    """Take the agent with the fewest conflicts among the rest, until none is left; finished agents
    first."""
    left, free = {*part}, set[int]()
    while left:
        agent = min(
            left,
            key=lambda x: (weights[x] < _FINISHED, len(near[x] & left), -weights[x], x),
        )
        free.add(agent)
        left -= {agent, *near[agent]}
    return free
