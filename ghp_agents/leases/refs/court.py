"""Who decides rights, and who asks: the remote and this clone."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ghp_agents.errors import GhpError
from ghp_agents.model.lease import Lease
from ghp_agents.remote import BRANCHES, CUSTOM, Answer, Pushed, Remote, unreachable
from ghp_agents.repository import StateRepository
from ghp_agents.workspace import Workspace


class Court(NamedTuple):
    """Who decides, and who asks."""

    ws: Workspace
    repository: StateRepository
    remote: Remote
    tell: Callable[[str], None]  # what people should know of it

    @property
    def spaces(self) -> Sequence[str]:
        """Where on the remote the rights may be."""
        return [self.remote.namespace] if self.remote.settled else [CUSTOM, BRANCHES]

    def check(self, pushed: Pushed, leases: Sequence[Lease], *, must_push: bool) -> None:
        """Raises UnknownError where nobody can tell what came of a push, and GhpError for a
        refusal; who only reads needs no permission."""
        if pushed.answer is Answer.UNKNOWN:
            raise unreachable(self.remote, pushed.words)
        if pushed.answer is Answer.REFUSED and must_push:
            raise refused(self, leases, pushed)


def refused(court: Court, leases: Sequence[Lease], pushed: Pushed) -> GhpError:
    """The remote does not let this clone change rights."""
    names = ", ".join(lease.name for lease in leases)
    return GhpError(
        f"The remote {court.remote.name} does not let us change {names}: {pushed.words}",
        hint="Ask for write access, or set `agents.remote` to a repository that you may push to, "
        "a fork for example.",
    )
