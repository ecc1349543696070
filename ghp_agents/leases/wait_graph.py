"""The wait-for graph: who waits for whom and for what, its chains, and its cycles (deadlocks)."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ghp_agents.hotpath.quoting import named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.issues.issue import Issue
    from ghp_agents.leases.hold import Waiter
    from ghp_agents.locks.lock import Lock


class Wait(NamedTuple):
    """A waiter, the holder it waits for, and what it waits for."""

    waiter: str
    holder: str
    what: str  # for people: #11, lease src/a.py
    right: str  # the exact lock; when acquired again it is a different one


Chain = tuple[Wait, ...]  # each waits for the next
IssuesByNumber = Mapping[int, "Issue"]
Claims = Mapping[int, "Lock"]


def for_issues(issues: Iterable["Issue"], claims: Claims, in_hand: Mapping[str, int]) -> list[Wait]:
    """The waits of issue holders: for open issues of others that block theirs.

    A blocker that nobody else holds is replaced by its own blockers. A holder of several issues
    waits only for the current one (`in_hand`), if it holds that: it is not stuck while it works
    on another.
    """
    opened = [issue for issue in issues if issue.state == "open"]
    by_number: IssuesByNumber = {number: issue for issue in opened for number in issue.numbers}
    waits: set[Wait] = set()
    for number, claim in claims.items():
        waiter, current = claim.holder, in_hand.get(claim.holder or "", number)
        holds_current = current in claims and claims[current].holder == waiter
        if waiter is None or number not in by_number or (holds_current and current != number):
            continue
        for blocker, held in _held_by_others(number, by_number, claims, waiter):
            assert held.holder is not None
            right = f"{held.name}@{held.generation}"
            waits.add(Wait(waiter, held.holder, f"#{blocker}", right))
    return sorted(waits)


def _held_by_others(
    number: int, by_number: IssuesByNumber, claims: Claims, waiter: str
) -> Iterator[tuple[int, "Lock"]]:
    visited, left = {number}, [*by_number[number].blocked_by]
    while left:
        blocker = left.pop()
        if blocker in visited or blocker not in by_number:
            continue
        visited.add(blocker)
        claim = claims.get(blocker)
        if claim and claim.holder not in (None, waiter):
            yield blocker, claim
        else:
            left += by_number[blocker].blocked_by


def for_leases(queue: Iterable["Waiter"]) -> list[Wait]:
    """The waits of queued requests: for each earlier overlapping one of another holder."""
    from ghp_agents.leases.record import what  # only if there is a queue

    return sorted(
        Wait(
            waiter.request.holder,
            hold.holder,
            f"lease {what(hold.patterns, hold.name)}",
            f"L-{hold.id}",
        )
        for waiter in queue
        for hold in waiter.behind
    )


def of_each(waits: Iterable[Wait]) -> dict[str, list[Wait]]:
    """The waits by waiter, in the same order on every machine."""
    by_waiter: dict[str, list[Wait]] = {}
    for wait in sorted(set(waits)):
        if wait.waiter != wait.holder:
            by_waiter.setdefault(wait.waiter, []).append(wait)
    return by_waiter


def onwards(by_waiter: Mapping[str, Sequence[Wait]], first: Wait) -> Chain:
    """The chain from `first`, in the result of `of_each`: whom its holder waits for, and so on. It
    ends with a holder that waits for nobody, or that is already in the chain."""
    way = [first]
    passed = {first.waiter}
    while way[-1].holder not in passed and way[-1].holder in by_waiter:
        passed.add(way[-1].holder)
        way.append(by_waiter[way[-1].holder][0])
    return tuple(way)


def circles(waits: Iterable[Wait]) -> list[Chain]:
    """The cycles: for each waiter in a cycle the shortest one. A cycle begins with the first of
    its names, so that all clones find the same."""
    by_waiter = of_each(waits)
    cycles = {_turned(way) for waiter in by_waiter if (way := _back(by_waiter, waiter))}
    return sorted(cycles, key=lambda circle: (len(circle), circle))


def _back(by_waiter: Mapping[str, Sequence[Wait]], start: str) -> Chain:
    """The shortest cycle through `start`; empty if there is none."""
    came_by: dict[str, Wait] = {}
    left = deque([start])
    while left:
        here = left.popleft()
        for wait in by_waiter.get(here, ()):
            if wait.holder in came_by:
                continue
            came_by[wait.holder] = wait
            if wait.holder == start:
                return _retraced(came_by, start)
            left.append(wait.holder)
    return ()


def _retraced(came_by: Mapping[str, Wait], start: str) -> Chain:
    way = [came_by[start]]
    while way[-1].waiter != start:
        way.append(came_by[way[-1].waiter])
    return tuple(way[::-1])


def _turned(circle: Chain) -> Chain:
    first = circle.index(min(circle))
    return circle[first:] + circle[:first]


def sentence(chain: Chain) -> str:
    """`worker-1 waits for #11 (worker-2), who waits for lease db (worker-3)`."""
    steps = ", who ".join(f"waits for {wait.what} ({named(wait.holder)})" for wait in chain)
    ends = ": a circle" if chain[-1].holder in {wait.waiter for wait in chain} else ""
    return f"{named(chain[0].waiter)} {steps}{ends}"


def rest(waiter: str, count: int) -> str:
    """The number of further waits that are not listed."""
    return f"{named(waiter)} waits for {count} more"


def question(circle: Chain) -> str:
    """The question for a person about a cycle. It names the locks exactly: the same agents with
    other locks are another cycle, and another question."""
    names = ", ".join(named(wait.waiter) for wait in circle)
    lines = "".join(
        f"- {named(wait.waiter)} waits for {wait.what} of {named(wait.holder)} ({wait.right})\n"
        for wait in circle
    )
    return f"{names} wait for each other in a deadlock. Who goes first?\n\n{lines}".rstrip()


def options(circle: Chain) -> tuple[str, ...]:
    """The options: who goes first, and what that requires."""
    return tuple(
        f"{named(wait.waiter)} goes first: "
        + (
            f"without {wait.what}"
            if wait.what.startswith("#")
            else f"{named(wait.holder)} releases {wait.what}"
        )
        for wait in circle
    )


def subjects(circle: Chain) -> tuple[str, ...]:
    """What the options decide, in their order: the lock that each waits for, and the waiter."""
    return tuple(f"{wait.right} {wait.waiter}" for wait in circle)
