"""Allocate numbers of issues and pull requests over all clones, by compare-and-swap."""

from collections.abc import Container

from ghp_agents.core.errors import NotFoundError, UnknownError
from ghp_agents.core.fields import as_whole, parse
from ghp_agents.core.ids import IssueNumber
from ghp_agents.core.moment import derived
from ghp_agents.issues.current_issue import in_hand
from ghp_agents.issues.issue import PROVISIONAL
from ghp_agents.locks.lock import NUMBERS
from ghp_agents.locks.swap import LockView, known_view, swap
from ghp_agents.ports import Context, LockService, Snapshot
from ghp_agents.state.record import PULLS

ATTEMPTS = 50  # each lost race gave another process a number, so all together make progress


def named_or_current(ctx: Context, agent: str | None, named: str | int | None) -> int | None:
    """The number of the named issue, else of the agent's current one; None if it has none, or if
    that does not exist. Raises NotFoundError for a named one.

    If the tracker is unreachable, a number is taken as it is.
    """
    wanted = in_hand(ctx, agent) if named is None else named
    if wanted is None:
        return None
    try:
        return ctx.tracker.get(wanted).number
    except NotFoundError:
        if named is not None:
            raise
        return None
    except UnknownError:
        number = str(wanted).removeprefix("#")
        if not (number.isascii() and number.isdigit()):
            raise
        return int(number)


def next_number(
    locks: LockService, holder: str, used: Container[int] = (), reason: str = ""
) -> IssueNumber:
    """The next free number: the generation of the lock `numbers` after acquiring it.

    The lock's holder does not matter, only its generation. Numbers in `used` are skipped: they
    were allocated locally, before this repository had a remote. A process that dies with its
    number leaves a gap. Raises UnknownError.
    """

    def decide(seen: LockView) -> IssueNumber:
        current = seen.lock
        while True:
            current = locks.acquire(NUMBERS, holder, expected=current, reason=reason)
            if current.generation >= PROVISIONAL:
                raise UnknownError(
                    f"No issue can get a number: the lock `{NUMBERS}` has reached its last "
                    f"generation ({current.generation}).",
                    hint="Somebody changed it by hand. Delete its ref to restart the numbers; "
                    f"used numbers stay reserved: `git push REMOTE :refs/ghp/lease/{NUMBERS}`.",
                )
            if current.generation not in used:
                return IssueNumber(current.generation)

    hint = "The next `ghp agent-sync` assigns a number."
    return swap(known_view(locks, NUMBERS), decide, attempts=ATTEMPTS, hint=hint)


@derived
def given_numbers(snapshot: Snapshot) -> frozenset[int]:
    """All known numbers of issues and pull requests; they share one sequence."""
    from ghp_agents.issues.open_issues import read_events  # few questions need all numbers

    issues = read_events(snapshot).numbers
    pulls = {_number(data) for data in snapshot.files(PULLS).values()}
    return issues | {number for number in pulls if number}


def _number(data: bytes) -> int | None:
    """The number in a pull request's record; None if it has none, or is invalid."""
    try:
        return as_whole(parse(data).get("number"), "number")
    except ValueError:
        return None
