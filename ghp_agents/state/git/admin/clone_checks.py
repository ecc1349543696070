"""What the doctor sees of the other clones: twins, clocks that differ, and the remote between."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ghp_agents.core.clock import ago
from ghp_agents.core.finding import Finding, info, ok, warning
from ghp_agents.core.ids import CloneId
from ghp_agents.core.remote_url import masked
from ghp_agents.git import process as git
from ghp_agents.state.git import read, sync
from ghp_agents.state.private_repo import StateRepository, find_repository, first_error
from ghp_agents.state.remote import BRANCHES, CUSTOM, coordination_remote, exchange
from ghp_agents.workspace import Workspace

SKEW = 300.0  # seconds between two clocks that are worth telling
_LOOKED_AT = 5_000  # ledger entries
_FORMAT = "%ct %(trailers:key=Clock,valueonly,separator=%x20) " \
    "%(trailers:key=Clone,valueonly,separator=%x20)"  # fmt: skip


# ------------------------------------------------------------------------------ twins


def check_twin(ws: Workspace) -> Iterator[Finding]:
    """Whether the remote has, under this clone's id, what this clone never said."""
    repository = find_repository(ws)
    if repository is None:
        return
    if sync.has_twin(repository):
        yield warning(
            "twin",
            f"Another clone uses this clone's id, {repository.clone}: a copied folder, or a "
            "container image that holds a clone.",
            "The next sync gives this clone another id; nothing is lost.",
            fixable=True,
        )


# ------------------------------------------------------------------------------ clocks


class ClockReading(NamedTuple):
    """When a clone said an entry of the ledger, by its own clock."""

    clone: CloneId
    clock: int  # the Lamport clock
    at: float


def check_clocks(ws: Workspace) -> Iterator[Finding]:
    """Which clones' clocks cannot agree with ours. It is told; liveness does not go by it."""
    repository = find_repository(ws)
    if repository is None:
        return
    off = skews(_said(repository), repository.clone, ws.clock.now())
    for clone, seconds in sorted(off.items()):
        if abs(seconds) > SKEW:
            side = "ahead of" if seconds > 0 else "behind"
            yield info(
                "clock",
                f"The clock of clone {clone} is at least {ago(abs(seconds))} {side} ours.",
                "Nobody is judged by it, but times in the log differ: check both clocks.",
            )


def skews(said: Iterable[ClockReading], own: CloneId, now: float) -> dict[CloneId, float]:
    """How far other clones' clocks are off from ours, at least; positive is ahead.

    An entry of our future shows a clock ahead. And an entry was said after another with a Lamport
    clock one lower: if it is dated before all of those, one of the two clocks is wrong.
    """
    entries = list(said)
    by_clock: dict[int, list[ClockReading]] = defaultdict(list)
    for entry in entries:
        by_clock[entry.clock].append(entry)
    found: dict[CloneId, float] = {}

    def note(clone: CloneId, seconds: float) -> None:
        if clone != own and abs(seconds) > abs(found.get(clone, 0.0)):
            found[clone] = seconds

    for entry in entries:
        if entry.at > now:
            note(entry.clone, entry.at - now)
        before = by_clock.get(entry.clock - 1, [])
        gap = min((one.at for one in before), default=entry.at) - entry.at
        sayers = {one.clone for one in before}
        if gap <= 0 or len(sayers) != 1:
            continue
        (sayer,) = sayers
        if sayer == own:
            note(entry.clone, -gap)
        elif entry.clone == own:
            note(sayer, gap)
    return found


def _said(repository: StateRepository) -> list[ClockReading]:
    heads = "".join(f"{tip.oid}\n" for tip in read.tips(repository)).encode()
    if not heads:
        return []
    args = ["log", "--no-show-signature", f"--max-count={_LOOKED_AT}", f"--format={_FORMAT}"]
    lines = repository.check(*args, "--stdin", stdin=heads).text.splitlines()
    words = (line.split() for line in lines)
    return [
        ClockReading(CloneId(each[2]), clock, float(each[0]))
        for each in words
        if len(each) == 3 and (clock := read.clock_of(each[1]))
    ]


# ------------------------------------------------------------------------------ the remote


def check_remote(ws: Workspace) -> Iterator[Finding]:
    """Whether the coordination remote answers."""
    remote = coordination_remote(ws)
    if remote is None:
        return
    repository = find_repository(ws)
    args = ["ls-remote", remote.name, f"{CUSTOM}clone/*", f"{BRANCHES}clone/*"]
    try:
        listed = exchange(ws, repository or _users_own(ws), remote, args)
    except git.GitTimeoutError:
        waited = f"{ws.settings.timeout:g} s"
        yield warning(
            "remote", f"{remote.name} did not answer within {waited}.", _unreachable(remote.name)
        )
        return
    if listed.code != 0:
        words = masked(first_error(listed))
        yield warning(
            "remote", f"{remote.name} cannot be reached: {words}", _unreachable(remote.name)
        )
        return
    names = (line.split("\t")[1] for line in listed.text.splitlines())
    count = sum(1 for name in names if name.startswith((f"{CUSTOM}clone/", f"{BRANCHES}clone/")))
    yield ok("remote", f"{remote.name} answers; clones that meet there: {count}.")


def _users_own(ws: Workspace) -> StateRepository:
    """The person's repository in the place of ours, which is not made yet: it only asks."""
    return StateRepository(ws.common_dir, ws.folder, CloneId(""))


def _unreachable(name: str) -> str:
    return f"Check the address and the network: git ls-remote {name}. What is said here waits."
