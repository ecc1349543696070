"""Who decides rights, and who asks: the remote and this clone."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ghp_agents.core.errors import GhpError
from ghp_agents.git.process import GitTimeoutError
from ghp_agents.locks.lock import Lock
from ghp_agents.state.private_repo import LEASE_REFS, StateRepository
from ghp_agents.state.remote import (
    BRANCHES,
    CUSTOM,
    Pushed,
    PushOutcome,
    Remote,
    exchange,
    unreachable,
)
from ghp_agents.workspace import Workspace


class LockPlaces(NamedTuple):
    """Who decides, and who asks."""

    ws: Workspace
    repository: StateRepository
    remote: Remote
    tell: Callable[[str], None]  # what people should know of it

    @property
    def spaces(self) -> Sequence[str]:
        """Where on the remote the rights may be."""
        return [self.remote.namespace] if self.remote.settled else [CUSTOM, BRANCHES]

    def check(self, pushed: Pushed, leases: Sequence[Lock], *, must_push: bool) -> None:
        """Raises UnknownError where nobody can tell what came of a push, and GhpError for a
        refusal; who only reads needs no permission."""
        if pushed.answer is PushOutcome.UNKNOWN:
            raise unreachable(self.remote, pushed.words)
        if pushed.answer is PushOutcome.REFUSED and must_push:
            raise refused(self, leases, pushed)


def refused(court: LockPlaces, leases: Sequence[Lock], pushed: Pushed) -> GhpError:
    """The remote does not let this clone change rights."""
    in_way = _in_way(court, leases)
    if in_way:
        return GhpError(
            f"{in_way[0]} is in the place of a right on {court.remote.name}: git cannot have a ref "
            "and a folder of refs with one name.",
            hint=f"Nothing of ours makes such a ref. Look at it and delete it: `git push "
            f"{court.remote.name} :{in_way[0]}`.",
        )
    names = ", ".join(lease.name for lease in leases)
    return GhpError(
        f"The remote {court.remote.name} does not let us change {names}: {pushed.words}",
        hint="Ask for write access, or set `agents.remote` to a repository that you may push to, "
        "a fork for example.",
    )


def _in_way(court: LockPlaces, leases: Sequence[Lock]) -> list[str]:
    """Refs on the remote below the names of these rights, where no ref can be."""
    below = [f"{court.remote.ref(LEASE_REFS + lease.name)}/*" for lease in leases[:20]]
    args = ["ls-remote", "--refs", court.remote.name, *below]
    try:
        listed = exchange(court.ws, court.repository, court.remote, args)
    except GitTimeoutError:
        return []
    return [line.partition("\t")[2] for line in listed.text.splitlines()]
