"""Pull requests of a clone without a token: asked for, and opened by a clone that has one."""

from collections.abc import Sequence
from typing import NoReturn

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.files import random_hex
from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.github.tokenless import request
from ghp_agents.github.tokenless.place import Tracker
from ghp_agents.github.tokenless.request import PULL, RequestResult, WriteRequest
from ghp_agents.github.tokenless.tracker import LOGIN
from ghp_agents.issues.issue import provisional
from ghp_agents.ports import Snapshot, StateStore
from ghp_agents.pulls.pull import (
    Checks,
    MergeStep,
    NewPull,
    Pull,
    PullChange,
    Review,
    Sent,
    checked_new,
    newest,
    not_found,
)
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import Workspace, now_text


class TokenlessForge:
    """`ports.Forge` on requests. It knows the pull requests that were asked for, and no others."""

    def __init__(self, ws: Workspace, store: StateStore, place: Tracker) -> None:
        self._ws, self._store, self._place = ws, store, place

    @property
    def is_local(self) -> bool:
        """GitHub merges."""
        return False

    def get(self, number: int) -> Pull:
        """One of the known pull requests. Raises NotFoundError."""
        pull = next((pull for pull in self.list(closed=True) if pull.number == number), None)
        if pull is None:
            raise not_found(number)
        return pull

    def find(self, branch: str) -> Pull | None:
        """The last pull request that was asked for, of a branch."""
        return newest(self.list(closed=True), branch)

    def open(self, new: NewPull, by: Actor) -> Pull:
        """Request a pull request, or the same one at a newer commit."""
        wanted, identity = checked_new(new), random_hex(6)

        def decide(snapshot: Snapshot) -> tuple[Pull, Sequence[Record]]:
            requested = [
                (entry, result)
                for entry, result in request.outgoing(snapshot).pulls()
                if entry.pull and entry.pull.branch == wanted.branch
            ]
            if requested and requested[-1][0].pull == wanted:
                return self._pull(*requested[-1]), []
            entry = WriteRequest(
                identity, PULL, snapshot.clock + 1, snapshot.clone,
                Timestamp(now_text(self._ws)), by, wanted.issue or 0, pull=wanted,
            )  # fmt: skip
            numbers = [result for _, result in requested if result]
            opened = numbers[-1] if numbers else None
            return self._pull(entry, opened), [request.request_record(entry)]

        return transact(self._store, decide)

    def change(self, number: int, change: PullChange, by: Actor) -> Pull:
        """Not from here. Raises RefusedError."""
        refuse(self._place, f"change #{number}")

    def checks(self, pull: Pull) -> Checks:
        """Unknown here."""
        return Checks()

    def reviews(self, pull: Pull) -> Sequence[Review]:
        """Unknown here."""
        return ()

    def merge(
        self, number: int, by: Actor, *, head: str, onto: str = "", message: str = ""
    ) -> Pull:
        """Not from here. Raises RefusedError."""
        refuse(self._place, f"merge #{number}")

    def place_in_queue(self, number: int) -> int | None:
        """Unknown here."""
        return None

    def merge_all(self, steps: Sequence[MergeStep], by: Actor, *, onto: str) -> Sequence[Pull]:
        """Not from here. Raises RefusedError."""
        refuse(self._place, "merge")

    def list(self, *, closed: bool = False) -> list[Pull]:
        """The pull requests that were asked for, oldest first; each branch once."""
        by_branch: dict[str, Pull] = {}
        for entry, result in request.outgoing(self._store.snapshot()).pulls():
            pull = self._pull(entry, result)
            previous = by_branch.pop(pull.branch, None)
            if previous and result is None:
                pull = pull._replace(number=previous.number, url=previous.url)
            by_branch[pull.branch] = pull
        return [*by_branch.values()]

    def _pull(self, entry: WriteRequest, result: RequestResult | None) -> Pull:
        new = entry.pull
        assert new is not None
        number = result.number if result else int(provisional(entry.id))
        return Pull(
            number, new.branch, new.base, new.head, new.title, new.body, new.issue, new.draft,
            author=entry.by.name, created_at=entry.at, updated_at=entry.at,
            url=f"https://{self._place.place}/pull/{number}" if result else "",
            sent=Sent(new.head, entry.by),
        )  # fmt: skip


def refuse(place: Tracker, what: str) -> NoReturn:
    """Raise the RefusedError of what only a token can do."""
    raise RefusedError(
        f"This clone cannot {what} on GitHub ({place.place}): it has no token.",
        hint=f"Run it in a clone with a token, or let a person do it on GitHub. {LOGIN}",
    )
