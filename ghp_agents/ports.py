"""The outside world, on one page: every Protocol. Each has an in-memory twin, and both pass the
same contract tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # every command loads this page, and few need all the records that it names
    from collections.abc import Collection, Mapping, Sequence
    from contextlib import AbstractContextManager

    from ghp_agents.core.finding import Finding
    from ghp_agents.core.ids import Actor, CloneId, Timestamp
    from ghp_agents.issues.issue import Comment, Issue, IssueChange
    from ghp_agents.locks.lock import Lock
    from ghp_agents.notes.note import Note
    from ghp_agents.notes.search.result import Hit, IndexUpdate
    from ghp_agents.pulls.pull import Checks, NewPull, Pull, PullChange
    from ghp_agents.state.cause import Cause
    from ghp_agents.state.join import Absorption, Problem, SyncReport, SyncStatus, Tip
    from ghp_agents.state.ledger import LedgerEntry
    from ghp_agents.state.presence import Agents, Presence
    from ghp_agents.state.record import Record


class Clock(Protocol):
    """Time and waiting, asked for and never taken."""

    def now(self) -> float:
        """Seconds since the epoch; somebody may set this clock."""

    def interval(self) -> tuple[str, float]:
        """Which start of the machine this is, and seconds that go on evenly until the next."""

    def wait(self, seconds: float) -> None:
        """Let time pass."""


class Snapshot(Protocol):
    """The state at one moment: the join of all known clones and this clone's live presence."""

    @property
    def clone(self) -> CloneId:
        """This clone."""

    @property
    def revision(self) -> str:
        """Where this clone's own history stood; what `commit` compares."""

    @property
    def clock(self) -> int:
        """The highest Lamport clock seen; a new record takes one more."""

    def tips(self) -> Sequence[Tip]:
        """Every known clone, this one first."""

    def agents(self) -> dict[str, Presence]:
        """Presence of every agent that anybody knows, newest of each."""

    def agents_of(self, clone: CloneId) -> Agents:
        """Presence of the agents as one clone tells it."""

    def beaten(self) -> Mapping[str, float]:
        """When each agent of this clone last beat, in seconds, by this machine's clock."""

    def files(self, prefix: str) -> Mapping[str, bytes]:
        """All records whose path starts with `prefix`, a folder ending with `/`."""

    def own(self, prefix: str) -> Mapping[str, bytes]:
        """Those of the records below `prefix` that this clone itself keeps, as it keeps them."""

    def problems(self) -> Sequence[Problem]:
        """What could not be read; kept where it is."""


class StateStore(Protocol):
    """Where records are kept and joined."""

    def snapshot(self, at: float | None = None) -> Snapshot:
        """The state now, or as it was at a time (seconds; then without live presence)."""

    def commit(self, records: Sequence[Record], expected: str) -> None:
        """Add `records` durably, if this clone's history still is at `expected`.

        Raises StateMovedError if it is not, GhpError if nothing could be kept. When the place of
        the state cannot be written or its lock stays held, the records wait in the outbox and
        count as said.
        """

    def beside(self, records: Sequence[Record]) -> AbstractContextManager[None]:
        """Add `records` with what is committed inside of this block, in one step; alone, at its
        end, if nothing was. Nobody else uses this store meanwhile."""

    def fold(self) -> int:
        """Bring live presence and the outbox into the state; how many commits that took."""

    def exclusive(self) -> AbstractContextManager[None]:
        """Keep others from writing meanwhile. Saves work; never needed to be right."""

    def sync(self, *, push: bool = True, paced: bool = False) -> SyncReport:
        """Fold, then exchange with the remote. Never raises for a remote that cannot be reached.

        `paced` keeps to the pace that hosts advise: before its time it only folds.
        """

    def publish(self, *, gone: Collection[str] = ()) -> SyncReport:
        """Put the joined state, without the agents that are gone, where people see it without
        this program."""

    def standing(self) -> SyncStatus:
        """How this clone stands with the remote; asks nobody."""

    def news_age(self) -> float | None:
        """Seconds since this clone last had news of the others, by a clock that nobody sets;
        None: never, or not since the machine was started."""

    def news_at(self) -> float | None:
        """When this clone last had news of the others; None: never. Cheaper than `standing`."""

    def ledger(self, after: Sequence[Tip] = ()) -> list[LedgerEntry]:
        """All that happened, in ledger order; with `after`, what those tips did not know yet."""

    def absorb(self, tips: Sequence[Tip], by: Actor) -> Absorption:
        """Say here what other clones have said up to these tips, and when the remote has that,
        take them off it, each if it still is at its tip. State and ledger stay as they are."""

    def adopt(self, clone: CloneId) -> None:
        """Go by another clone's id from now on, which nobody else uses at this time, with all
        that was said under both."""

    def forget_live(self, agent: str) -> None:
        """Drop the live presence of an agent of this clone; the ledger keeps what was folded."""


class LockService(Protocol):
    """Rights: exclusive over all clones, by compare-and-swap. Knows nothing of who may take one.

    Every method but `known` raises UnknownError (exit code 4) when the one place that decides
    cannot be reached; that is never taken as "free".
    """

    @property
    def clone(self) -> str:
        """The id of this clone; empty if it has none yet."""

    def read(self, name: str) -> Lock | None:
        """The lease called `name` as it is now; None if it never was acquired."""

    def acquire(
        self,
        name: str,
        holder: str,
        *,
        expected: Lock | None,
        epoch: int = 0,
        reason: str = "",
        patterns: Sequence[str] = (),
        cause: Cause = ...,
        clone: str | None = None,
        until: Timestamp | None = None,
    ) -> Lock:
        """Take the right, with the next generation, if it still is as `expected`.

        Raises LeaseMovedError with the present lease if it is not. A first acquisition expects
        None and gets generation 1. `clone` is the holder's, if that is not this one; empty where
        nobody knows it. `until` ends the right by itself.
        """

    def release(self, name: str, *, expected: Lock, reason: str = "", cause: Cause = ...) -> Lock:
        """Give the right back: no holder, the same generation. Raises LeaseMovedError.

        Of a right that nobody holds nothing changes, and `expected` comes back.
        """

    def known(self, prefix: str = "") -> list[Lock]:
        """The leases whose name starts with `prefix`, by name, as this clone knows them without
        asking anybody: from what it did and read, and from the last sync. Each may have moved on.
        """

    def history(self, name: str) -> list[Lock]:
        """Every lease that the right has had, oldest first; none if it never was acquired."""

    def list(self, prefix: str = "") -> list[Lock]:
        """All leases whose name starts with `prefix`, by name."""

    def mend(self) -> Sequence[str]:
        """Put back what the place that decides has lost of the rights that this clone knows, by
        the last sync. The names of those that are in dispute, or were put back."""


class IssueTracker(Protocol):
    """Issues: commands and authority. Numbers, ids and unique prefixes of ids name an issue."""

    @property
    def is_heard(self) -> bool:
        """Whether people's comments there are commands and answers: then they are told how."""

    def known(self, *, closed: bool = False) -> list[Issue]:
        """As `list`, but as this clone knows them, without asking anybody."""

    def list(self, *, closed: bool = False) -> list[Issue]:
        """Open issues, and closed ones if asked, oldest first. Comments may be left out."""

    def get(self, issue: str | int) -> Issue:
        """One issue with its comments. Raises NotFoundError."""

    def create(self, change: IssueChange, by: Actor) -> Issue:
        """A new issue."""

    def change(self, issue: str | int, change: IssueChange, by: Actor) -> Issue:
        """Change fields; what is already so stays so, and says nothing. Raises NotFoundError."""

    def comment(self, issue: str | int, body: str, by: Actor, *, marker: str = "") -> Comment:
        """Say something. With `marker`, a comment that has it is answered instead of a second."""

    def show(
        self, issue: str | int, by: Actor, *, add: Sequence[str] = (), remove: Sequence[str] = ()
    ) -> Issue:
        """Show who has an issue now and who no longer, which was decided elsewhere.

        Never raises UnknownError: what cannot be shown now is shown later. What the tracker cannot
        show at all is left out. Raises NotFoundError for an issue that nobody here knows.
        """

    def send(self) -> Sequence[str]:
        """Send what could not be sent before, in its order; what was sent, in words."""


class Forge(Protocol):
    """Where finished work meets the trunk: pull requests. Each has a number and one branch."""

    @property
    def is_local(self) -> bool:
        """Whether merging is done by this clone: then exactly what was checked is merged. A host
        merges by itself, so a branch is first brought up to the trunk."""

    def get(self, number: int) -> Pull:
        """One pull request. Raises NotFoundError."""

    def find(self, branch: str) -> Pull | None:
        """The open pull request of a branch, else the newest one that it had; None if none."""

    def open(self, new: NewPull, by: Actor) -> Pull:
        """A pull request; the open one of the same branch, if there is one, brought up to date."""

    def change(self, number: int, change: PullChange, by: Actor) -> Pull:
        """Change fields, draft, state; what is already so stays so. Raises NotFoundError."""

    def checks(self, pull: Pull) -> Checks:
        """What the host's own checks say of the pull request's head."""

    def merge(
        self, number: int, by: Actor, *, head: str, onto: str = "", message: str = ""
    ) -> Pull:
        """Merge it, if its branch still is at `head`, and the trunk at `onto` where that is given
        and the forge can tell. What is merged stays so.

        Raises PullMovedError, RefusedError when it cannot be merged, NotFoundError, UnknownError.
        """

    def list(self, *, closed: bool = False) -> list[Pull]:
        """Open pull requests, and merged and closed ones if asked, oldest first."""


class KnowledgeBase(Protocol):
    """Where notes are found by what they mean. It holds nothing that the notes do not say: it can
    be thrown away, and made again from them."""

    def bring(self, notes: Sequence[Note]) -> IndexUpdate:
        """Let exactly these notes be found. Raises KnowledgeError."""

    def search(
        self, query: str, notes: Sequence[Note], limit: int, among: Collection[str] | None = None
    ) -> Sequence[Hit]:
        """Those of `notes` that fit best, or of them `among`; the best first. Brings them, if need
        be. Raises KnowledgeError."""

    def distil(self, text: str) -> Sequence[str]:
        """The facts in a text: the text itself, unless a language model is set up to find them.

        Raises KnowledgeError when it found none; then nothing may be stored.
        """

    def shortcomings(self) -> Sequence[Finding]:
        """What is missing for it to find as well as it could, and what to do about it."""
