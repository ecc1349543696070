"""Pull requests in memory: behaves as the other forges, for tests."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from ghp_agents.core.clock import to_text
from ghp_agents.core.ids import Actor, Timestamp, digest
from ghp_agents.ports import Clock
from ghp_agents.pulls.pull import (
    Checks,
    MergeConflictError,
    MergeStep,
    NewPull,
    Pull,
    PullChange,
    PullMovedError,
    Review,
    Sent,
    brought_up,
    checked,
    checked_new,
    effective,
    newest,
    not_found,
    refuse_unready,
)


@dataclass
class Branches:
    """The remote of this forge: the tip of each branch, and which branches conflict."""

    tips: dict[str, str] = field(default_factory=dict)
    conflicting: set[str] = field(default_factory=set)  # branches that cannot be merged


class MemoryForge:
    """Pull requests that last as long as the process; the first is number 1."""

    def __init__(self, clock: Clock, branches: Branches | None = None) -> None:
        self._clock = clock
        self._branches = branches or Branches()
        self._pulls: dict[int, Pull] = {}
        self._lock = threading.Lock()

    @property
    def is_local(self) -> bool:
        """There is no host."""
        return True

    def get(self, number: int) -> Pull:
        """Return one pull request. Raises NotFoundError."""
        if number not in self._pulls:
            raise not_found(number)
        return self._pulls[number]

    def find(self, branch: str) -> Pull | None:
        """Return the open pull request of a branch, else its newest one."""
        return newest(self.list(closed=True), branch)

    def open(self, request: NewPull, by: Actor) -> Pull:
        """Open a pull request, or update the open one of the same branch."""
        request = checked_new(request)
        with self._lock:
            existing = self.find(request.branch)
            if existing and existing.state == "open":
                existing = existing._replace(sent=Sent(request.head, by))
                self._pulls[existing.number] = existing
                return self._change(existing, brought_up(existing, request))
            number, now = len(self._pulls) + 1, self._now()
            self._pulls[number] = Pull(
                number, request.branch, request.base, request.head, request.title, request.body,
                request.issue, request.draft, "open", by.name, now, now,
                sent=Sent(request.head, by),
            )  # fmt: skip
            return self._pulls[number]

    def change(self, number: int, change: PullChange, by: Actor) -> Pull:
        """Change fields; values that are already set stay."""
        wanted = checked(change)
        with self._lock:
            pull = self.get(number)
            return self._change(pull, effective(pull, wanted))

    def checks(self, pull: Pull) -> Checks:
        """Return no checks: there is no host."""
        return Checks()

    def reviews(self, pull: Pull) -> Sequence[Review]:
        """Return no reviews: there is no host."""
        return ()

    def merge(
        self, number: int, by: Actor, *, head: str, onto: str = "", message: str = ""
    ) -> Pull:
        """Merge it if its branch is still at `head` and the default branch at `onto`."""
        with self._lock:
            pull, tips = self.get(number), self._branches.tips
            if pull.state == "merged":
                return pull
            refuse_unready(pull)
            if tips.get(pull.branch) != head:
                raise PullMovedError(pull._replace(head=tips.get(pull.branch, "")))
            if onto and tips.get(pull.base) != onto:
                raise PullMovedError(pull, pull.base)
            if pull.branch in self._branches.conflicting:
                raise MergeConflictError(pull, ())
            commit = digest("merge", tips.get(pull.base, ""), head, length=40)
            tips[pull.base] = commit
            self._pulls[number] = pull._replace(
                state="merged", merged_as=commit, head=head, updated_at=self._now()
            )
            return self._pulls[number]

    def place_in_queue(self, number: int) -> int | None:
        """There is no such queue."""
        return None

    def merge_all(self, steps: Sequence[MergeStep], by: Actor, *, onto: str) -> Sequence[Pull]:
        """Merge several by one update of the default branch."""
        with self._lock:
            tips, pulls = self._branches.tips, [self.get(step.number) for step in steps]
            for pull, step in zip(pulls, steps, strict=True):
                refuse_unready(pull)
                if tips.get(pull.branch) != step.head:
                    raise PullMovedError(pull._replace(head=tips.get(pull.branch, "")))
            if tips.get(pulls[0].base) != onto:
                raise PullMovedError(pulls[0], pulls[0].base)
            tips[pulls[0].base] = steps[-1].commit
            for step in steps:
                self._pulls[step.number] = self._pulls[step.number]._replace(
                    state="merged", merged_as=step.commit, head=step.head, updated_at=self._now()
                )
            return [self._pulls[step.number] for step in steps]

    def list(self, *, closed: bool = False) -> list[Pull]:
        """List open pull requests, with `closed` all of them, oldest first."""
        return [pull for pull in self._pulls.values() if closed or pull.state == "open"]

    def _change(self, pull: Pull, new: PullChange) -> Pull:
        fields = {name: value for name, value in new._asdict().items() if value is not None}
        if fields:
            self._pulls[pull.number] = pull._replace(**fields, updated_at=self._now())
        return self._pulls[pull.number]

    def _now(self) -> Timestamp:
        return Timestamp(to_text(self._clock.now()))
