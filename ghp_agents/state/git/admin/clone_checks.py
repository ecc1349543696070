"""The doctor's checks of other clones: duplicate ids, wrong clocks, and the remote."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ghp_agents.core.clock import ago
from ghp_agents.core.finding import Finding, info, ok, warning
from ghp_agents.core.ids import CloneId
from ghp_agents.core.remote_url import masked
from ghp_agents.git import process as git
from ghp_agents.state.coordination import BRANCHES, CUSTOM, coordination_remote
from ghp_agents.state.git import read, sync
from ghp_agents.state.private_repo import StateRepository, find_repository
from ghp_agents.state.refusal import first_error
from ghp_agents.state.remote import exchange
from ghp_agents.workspace import Workspace

SKEW = 300.0  # seconds of clock difference worth reporting
_LOOKED_AT = 5_000  # ledger entries
_FORMAT = "%ct %(trailers:key=Clock,valueonly,separator=%x20) " \
    "%(trailers:key=Clone,valueonly,separator=%x20)"  # fmt: skip


def check_twin(ws: Workspace) -> Iterator[Finding]:
    """Whether the remote has commits under this clone's id that this clone never made."""
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


class ClockReading(NamedTuple):
    """When a clone wrote a ledger entry, by its own clock."""

    clone: CloneId
    clock: int  # the Lamport clock
    at: float


def check_clocks(ws: Workspace) -> Iterator[Finding]:
    """Which clones' clocks disagree with ours. For information only; liveness does not use them."""
    repository = find_repository(ws)
    if repository is None:
        return
    off = skews(_read_clocks(repository), repository.clone, ws.clock.now())
    for clone, seconds in sorted(off.items()):
        if abs(seconds) > SKEW:
            side = "ahead of" if seconds > 0 else "behind"
            yield info(
                "clock",
                f"The clock of clone {clone} is at least {ago(abs(seconds))} {side} this one.",
                "Liveness does not depend on it, but times in the log differ. Check both clocks.",
            )


def skews(readings: Iterable[ClockReading], own: CloneId, now: float) -> dict[CloneId, float]:
    """How far other clones' clocks are off from ours, at least; positive is ahead.

    An entry in our future shows a clock ahead. An entry was also written after all entries whose
    Lamport clock is one lower. If its date is before all of theirs, one of the two clocks is wrong.
    """
    entries = list(readings)
    by_clock: dict[int, list[ClockReading]] = defaultdict(list)
    for entry in entries:
        by_clock[entry.clock].append(entry)
    offsets: dict[CloneId, float] = {}

    def note(clone: CloneId, seconds: float) -> None:
        if clone != own and abs(seconds) > abs(offsets.get(clone, 0.0)):
            offsets[clone] = seconds

    for entry in entries:
        if entry.at > now:
            note(entry.clone, entry.at - now)
        before = by_clock.get(entry.clock - 1, [])
        gap = min((earlier.at for earlier in before), default=entry.at) - entry.at
        writers = {earlier.clone for earlier in before}
        if gap <= 0 or len(writers) != 1:
            continue
        (writer,) = writers
        if writer == own:
            note(entry.clone, -gap)
        elif entry.clone == own:
            note(writer, gap)
    return offsets


def _read_clocks(repository: StateRepository) -> list[ClockReading]:
    heads = "".join(f"{tip.oid}\n" for tip in read.tips(repository)).encode()
    if not heads:
        return []
    args = ["log", "--no-show-signature", f"--max-count={_LOOKED_AT}", f"--format={_FORMAT}"]
    lines = repository.check(*args, "--stdin", stdin=heads).text.splitlines()
    words = (line.split() for line in lines)
    return [
        ClockReading(CloneId(row[2]), clock, float(row[0]))
        for row in words
        if len(row) == 3 and (clock := read.clock_of(row[1]))
    ]


def check_remote(ws: Workspace) -> Iterator[Finding]:
    """Whether the coordination remote answers."""
    remote = coordination_remote(ws)
    if remote is None:
        return
    repository = find_repository(ws)
    args = ["ls-remote", remote.name, f"{CUSTOM}clone/*", f"{BRANCHES}clone/*"]
    try:
        listed = exchange(ws, repository or _user_repository(ws), remote, args)
    except git.GitTimeoutError as error:
        yield warning(
            "remote", f"{remote.name} cannot be reached: {error}", _unreachable(remote.name)
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
    clones = "1 clone syncs" if count == 1 else f"{count} clones sync"
    yield ok("remote", f"{remote.name} answers; {clones} through it.")


def _user_repository(ws: Workspace) -> StateRepository:
    """The person's repository in place of ours, which does not exist yet. Only reads."""
    return StateRepository(ws.common_dir, ws.folder, CloneId(""), ws.kept)


def _unreachable(name: str) -> str:
    return f"Check the address and the network: git ls-remote {name}. Records of this clone wait."
