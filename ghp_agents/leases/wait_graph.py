"""Who waits for whom, and what for: chains of waiting, and circles, in which nobody can go on."""

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
    """One who waits, whom for, and what for."""

    waiter: str
    holder: str
    what: str  # for people: #11, lease src/a.py
    right: str  # exactly which right; one that is taken anew is another one


Chain = tuple[Wait, ...]  # each waits for the next
Known = Mapping[int, "Issue"]
Claims = Mapping[int, "Lock"]


def for_issues(issues: Iterable["Issue"], claims: Claims, in_hand: Mapping[str, int]) -> list[Wait]:
    """What holders of issues wait for: open issues of others that block theirs.

    A blocker that nobody else holds is waited for through what blocks it in turn. Who has several
    issues waits for the sake of the one `in_hand`, if that is one of them: it is not stuck as long
    as it works on another.
    """
    opened = [each for each in issues if each.state == "open"]
    known: Known = {number: each for each in opened for number in each.numbers}
    found: set[Wait] = set()
    for number, claim in claims.items():
        waiter, hand = claim.holder, in_hand.get(claim.holder or "", number)
        has_hand = hand in claims and claims[hand].holder == waiter
        if waiter is None or number not in known or (has_hand and hand != number):
            continue
        for blocker, held in _held_by_others(number, known, claims, waiter):
            assert held.holder is not None
            right = f"{held.name}@{held.generation}"
            found.add(Wait(waiter, held.holder, f"#{blocker}", right))
    return sorted(found)


def _held_by_others(
    number: int, known: Known, claims: Claims, waiter: str
) -> Iterator[tuple[int, "Lock"]]:
    seen, left = {number}, [*known[number].blocked_by]
    while left:
        blocker = left.pop()
        if blocker in seen or blocker not in known:
            continue
        seen.add(blocker)
        claim = claims.get(blocker)
        if claim and claim.holder not in (None, waiter):
            yield blocker, claim
        else:
            left += known[blocker].blocked_by


def for_leases(queue: Iterable["Waiter"]) -> list[Wait]:
    """What those in the queue for a lease wait for: each earlier one of another that it meets."""
    from ghp_agents.leases.record import what  # needed only where there is a queue

    return sorted(
        Wait(waiter.holder, hold.holder, f"lease {what(hold.patterns, hold.name)}", f"L-{hold.id}")
        for waiter in queue
        for hold in waiter.behind
    )


def of_each(waits: Iterable[Wait]) -> dict[str, list[Wait]]:
    """The waits by who waits, in one order on every machine."""
    found: dict[str, list[Wait]] = {}
    for wait in sorted(set(waits)):
        if wait.waiter != wait.holder:
            found.setdefault(wait.waiter, []).append(wait)
    return found


def chains(waits: Iterable[Wait], waiter: str) -> list[Chain]:
    """For each thing that `waiter` waits for, the way on: whom its holder waits for, and so on.

    A way ends with who waits for nobody, or with who is on it already.
    """
    by_waiter = of_each(waits)
    return [onwards(by_waiter, first) for first in by_waiter.get(waiter, ())]


def onwards(by_waiter: Mapping[str, Sequence[Wait]], first: Wait) -> Chain:
    """The way on from `first`, by what `of_each` found."""
    way = [first]
    passed = {first.waiter}
    while way[-1].holder not in passed and way[-1].holder in by_waiter:
        passed.add(way[-1].holder)
        way.append(by_waiter[way[-1].holder][0])
    return tuple(way)


def circles(waits: Iterable[Wait]) -> list[Chain]:
    """Circles of waiting, so that everybody who is in one is in one of these: through each the
    shortest. A circle begins with the first of its names, so that all find the same."""
    by_waiter = of_each(waits)
    found = {_turned(way) for waiter in by_waiter if (way := _back(by_waiter, waiter))}
    return sorted(found, key=lambda circle: (len(circle), circle))


def _back(by_waiter: Mapping[str, Sequence[Wait]], start: str) -> Chain:
    """The shortest way from `start` to itself; none if there is no way."""
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


# ------------------------------------------------------------------------------ in words


def sentence(chain: Chain) -> str:
    """`worker-1 waits for #11 (worker-2), who waits for lease db (worker-3)`."""
    steps = ", who ".join(f"waits for {wait.what} ({_shown(wait.holder)})" for wait in chain)
    ends = ": a circle" if chain[-1].holder in {wait.waiter for wait in chain} else ""
    return f"{_shown(chain[0].waiter)} {steps}{ends}"


def rest(waiter: str, count: int) -> str:
    """For who waits for so many that not all are told."""
    return f"{_shown(waiter)} waits for {count} more"


def question(circle: Chain) -> str:
    """What a person is asked about a circle. It names the rights exactly: the same names with other
    rights are another circle, and another question."""
    names = ", ".join(_shown(wait.waiter) for wait in circle)
    lines = "".join(
        f"- {_shown(wait.waiter)} waits for {wait.what} of {_shown(wait.holder)} ({wait.right})\n"
        for wait in circle
    )
    return f"{names} wait for each other, and none can go on. Who goes first?\n\n{lines}".rstrip()


def options(circle: Chain) -> tuple[str, ...]:
    """Who may go first, and what that takes."""
    return tuple(
        f"{_shown(wait.waiter)} goes first: "
        + (
            f"without {wait.what}"
            if wait.what.startswith("#")
            else f"{_shown(wait.holder)} gives back {wait.what}"
        )
        for wait in circle
    )


def _shown(name: str) -> str:
    return named(name)
