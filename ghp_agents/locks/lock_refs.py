"""Where locks are decided: on the remote, or in this clone."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ghp_agents.core.errors import GhpError
from ghp_agents.git.process import GitTimeoutError
from ghp_agents.locks.lock import Lock
from ghp_agents.state.coordination import BRANCHES, CUSTOM, Remote
from ghp_agents.state.private_repo import LEASE_REFS, StateRepository
from ghp_agents.state.remote import Pushed, PushOutcome, exchange, unreachable
from ghp_agents.workspace import Workspace


class LockPlaces(NamedTuple):
    """The remote that decides, and the clone that asks."""

    ws: Workspace
    repository: StateRepository
    remote: Remote
    tell: Callable[[str], None]  # shows a message to people

    @property
    def spaces(self) -> Sequence[str]:
        """The namespaces on the remote that may contain locks."""
        return [self.remote.namespace] if self.remote.settled else [CUSTOM, BRANCHES]

    def check(self, pushed: Pushed, locks: Sequence[Lock], *, must_push: bool) -> None:
        """Raises UnknownError if a push's outcome is unknown, and GhpError if it was refused;
        readers need no permission to push."""
        if pushed.answer is PushOutcome.UNKNOWN:
            raise unreachable(self.remote, pushed.words)
        if pushed.answer is PushOutcome.REFUSED and must_push:
            raise refused(self, locks, pushed)


def refused(places: LockPlaces, locks: Sequence[Lock], pushed: Pushed) -> GhpError:
    """The remote refuses changes of locks by this clone."""
    in_way = _blocking_refs(places, locks)
    if in_way:
        return GhpError(
            f"{in_way[0]} blocks a lock on {places.remote.name}: git cannot have a ref and a "
            "folder of refs with the same name.",
            hint="This program never creates such a ref. Check it, then delete it: `git push "
            f"{places.remote.name} :{in_way[0]}`.",
        )
    names = ", ".join(lock.name for lock in locks)
    return GhpError(
        f"The remote {places.remote.name} refuses changes of {names}: {pushed.words}",
        hint="Ask for write access, or set `agents.remote` to a repository that you can push "
        "to, e.g. a fork.",
    )


def _blocking_refs(places: LockPlaces, locks: Sequence[Lock]) -> list[str]:
    """Remote refs below the names of these locks, which block them."""
    below = [f"{places.remote.ref(LEASE_REFS + lock.name)}/*" for lock in locks[:20]]
    args = ["ls-remote", "--refs", places.remote.name, *below]
    try:
        listed = exchange(places.ws, places.repository, places.remote, args)
    except GitTimeoutError:
        return []
    return [line.partition("\t")[2] for line in listed.text.splitlines()]
