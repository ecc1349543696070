"""Pull requests in memory: the twin of the other forges, for tests."""

import threading
from dataclasses import dataclass, field

from ghp_agents.core.clock import to_text
from ghp_agents.core.ids import Actor, Timestamp, digest
from ghp_agents.ports import Clock
from ghp_agents.pulls.pull import (
    Checks,
    MergeConflictError,
    NewPull,
    Pull,
    PullChange,
    PullMovedError,
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
    """What the remote is to the others: where each branch is, and what conflicts."""

    tips: dict[str, str] = field(default_factory=dict)
    conflicting: set[str] = field(default_factory=set)  # branches that cannot be merged


class MemoryForge:
    """Pull requests that end with the process; the first is number 1."""

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
        """One pull request. Raises NotFoundError."""
        if number not in self._pulls:
            raise not_found(number)
        return self._pulls[number]

    def find(self, branch: str) -> Pull | None:
        """The open pull request of a branch, else the newest one that it had."""
        return newest(self.list(closed=True), branch)

    def open(self, new: NewPull, by: Actor) -> Pull:
        """A pull request; the open one of the same branch, brought up to date."""
        wanted = checked_new(new)
        with self._lock:
            there = self.find(wanted.branch)
            if there and there.state == "open":
                there = there._replace(sent=Sent(wanted.head, by))
                self._pulls[there.number] = there
                return self._change(there, brought_up(there, wanted))
            number, now = len(self._pulls) + 1, self._now()
            self._pulls[number] = Pull(
                number, wanted.branch, wanted.base, wanted.head, wanted.title, wanted.body,
                wanted.issue, wanted.draft, "open", by.name, now, now,
                sent=Sent(wanted.head, by),
            )  # fmt: skip
            return self._pulls[number]

    def change(self, number: int, change: PullChange, by: Actor) -> Pull:
        """Change fields; what is already so stays so."""
        wanted = checked(change)
        with self._lock:
            had = self.get(number)
            return self._change(had, effective(had, wanted))

    def checks(self, pull: Pull) -> Checks:
        """There is no host that checks."""
        return Checks()

    def merge(
        self, number: int, by: Actor, *, head: str, onto: str = "", message: str = ""
    ) -> Pull:
        """Merge it, if its branch still is at `head`, and the trunk at `onto`."""
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

    def list(self, *, closed: bool = False) -> list[Pull]:
        """Open pull requests, and merged and closed ones if asked, oldest first."""
        return [pull for pull in self._pulls.values() if closed or pull.state == "open"]

    def _change(self, had: Pull, new: PullChange) -> Pull:
        said = {name: value for name, value in new._asdict().items() if value is not None}
        if said:
            self._pulls[had.number] = had._replace(**said, updated_at=self._now())
        return self._pulls[had.number]

    def _now(self) -> Timestamp:
        return Timestamp(to_text(self._clock.now()))
