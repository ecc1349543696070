"""All Protocols for the outside world, on one page. Each has an in-memory twin, and both pass the
same contract tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # every command loads this page, and few need all the records that it names
    from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from ghp_agents.core.finding import Finding
    from ghp_agents.core.ids import Actor, CloneId, Timestamp
    from ghp_agents.github.api.repository import GitHubRepository
    from ghp_agents.issues.issue import Closing, Comment, Issue, IssueChange
    from ghp_agents.locks.lock import Lock, Release
    from ghp_agents.notes.note import Note
    from ghp_agents.notes.search.result import Hit, IndexUpdate
    from ghp_agents.pulls.pull import Checks, MergeStep, NewPull, Pull, PullChange, Review
    from ghp_agents.state.cause import Cause
    from ghp_agents.state.join import Absorption, SetAside, Settled, SyncReport, SyncStatus, Tip
    from ghp_agents.state.ledger import LedgerEntry
    from ghp_agents.state.presence import Agents, Presence
    from ghp_agents.state.record import Problem, Record
    from ghp_agents.workspace import Workspace
    from ghp_agents.world import World


class Clock(Protocol):
    """Time and waiting."""

    def now(self) -> float:
        """Seconds since the epoch; this clock may be changed."""

    def interval(self) -> tuple[str, float]:
        """An id of the machine's boot, and monotonic seconds since some moment of that boot."""

    def wait(self, seconds: float) -> None:
        """Let time pass."""


class Snapshot(Protocol):
    """The state at one moment: the join of all known clones and this clone's live presence."""

    @property
    def clone(self) -> CloneId:
        """This clone."""

    @property
    def revision(self) -> str:
        """This clone's commit; `commit` compares it."""

    @property
    def clock(self) -> int:
        """The highest Lamport clock seen; a new record gets the next one."""

    @property
    def derived(self) -> dict[Hashable, Any]:
        """What was made of its records; for `core.moment`."""

    def tips(self) -> Sequence[Tip]:
        """Every known clone, this one first."""

    def agents(self) -> dict[str, Presence]:
        """The newest presence of every known agent."""

    def agents_of(self, clone: CloneId) -> Agents:
        """Presence of agents according to one clone."""

    def beaten(self) -> Mapping[str, float]:
        """The last heartbeat of each agent of this clone, in seconds, by this machine's clock."""

    def files(self, prefix: str) -> Mapping[str, bytes]:
        """All records whose path starts with `prefix`, a folder ending with `/`."""

    def present(self, prefix: str) -> Mapping[str, bytes]:
        """The same without settled records, which left the tips of all clones that compacted. Of a
        settled subject, it has no record, or at least the records that end it."""

    def stamps(self, prefix: str) -> Mapping[str, str]:
        """The folders directly below `prefix`, each with a stamp: while it is the same, `present`
        has the same files there. Costs one read for each clone."""

    def settled(self, prefixes: Collection[str]) -> Mapping[str, bytes]:
        """The records below `prefixes` that left a tip because they are settled."""

    def own(self, prefix: str) -> Mapping[str, bytes]:
        """This clone's own records below `prefix`."""

    def writers(self, prefix: str) -> Mapping[str, frozenset[CloneId]]:
        """The clones on whose refs each record below `prefix` is, whatever the record says."""

    def problems(self) -> Sequence[Problem]:
        """What could not be read; it stays where it is."""


class StateStore(Protocol):
    """Stores and joins records, exchanges them with other clones, and changes which clones there
    are."""

    def snapshot(self, at: float | None = None) -> Snapshot:
        """The state now, or at a time (seconds; then without live presence)."""

    def commit(self, records: Sequence[Record], expected: str) -> None:
        """Add `records` durably, if this clone's history still is at `expected`.

        Raises StateMovedError if it is not, GhpError if nothing could be stored. If the store
        cannot be written or its lock stays held, the records wait in the outbox and count as
        recorded.
        """

    def commit_with(self, records: Sequence[Record]) -> AbstractContextManager[None]:
        """Add `records` in one step with what is committed inside of this block; at its end if
        nothing was. Nobody else may use this store meanwhile."""

    def fold(self) -> int:
        """Commit live presence and the outbox; returns the number of commits."""

    def exclusive(self) -> AbstractContextManager[None]:
        """Keep others from writing. Saves work; never needed for correctness."""

    def ledger(self, after: Sequence[Tip] = ()) -> list[LedgerEntry]:
        """All entries in ledger order; with `after`, only those that these tips did not know."""

    def sync(self, *, push: bool = True, paced: bool = False, fetch: bool = True) -> SyncReport:
        """Fold, then exchange with the remote. An unreachable remote is reported, not raised.

        `paced` respects the hosts' rate limits: too early, it only folds. Without `fetch`, it only
        sends: for a caller that has fetched just before.
        """

    def hear(self, timeout: float, *, needed: bool = False) -> SyncReport:
        """Only fetch, within `timeout` seconds, or less for a remote that usually takes less; not
        if it is `needed`. A clone without records of ours first asks whether the remote has some,
        and else creates nothing."""

    def publish(
        self,
        pages: Callable[[Snapshot, Agents], Mapping[str, bytes]],
        *,
        gone: Collection[str] = (),
        create: bool = True,
    ) -> SyncReport:
        """Publish the joined state, without the agents in `gone`, where people see it without this
        program. `pages` renders it with the agents to show; one page is `README.md`. Without
        `create`, only sync where nothing was published yet."""

    def set_aside(self) -> Sequence[SetAside]:
        """The records that the remote refused, oldest first. They are read here and not sent."""

    def retry_refused(self, ids: Collection[str]) -> Sequence[SetAside]:
        """Let the next sync send some of them, or all if none is named."""

    def drop_refused(self, ids: Collection[str]) -> Sequence[SetAside]:
        """Delete some of them, or all if none is named."""

    def remote(self) -> str | None:
        """The name of the coordination remote; None: there is none. Cheaper than `sync_status`."""

    def sync_status(self) -> SyncStatus:
        """This clone's sync status; contacts nobody."""

    def news_age(self) -> float | None:
        """Seconds since the last news from other clones, by a monotonic clock; None: never, or not
        since the machine started."""

    def news_at(self) -> float | None:
        """When the last news from other clones came; None: never. Cheaper than `sync_status`."""

    def asked_at(self) -> float | None:
        """When the remote was last asked, also in vain; None: never. As cheap as `news_at`."""

    def absorb_clones(self, tips: Sequence[Tip], by: Actor) -> Absorption:
        """Merge what other clones wrote up to these tips. Once the remote has that, delete their
        refs there, each if it still is at its tip. State and ledger do not change."""

    def compact(self, subjects: Sequence[Settled]) -> int:
        """Take this clone's records of settled subjects off its tip; returns how many. State and
        ledger do not change."""

    def use_clone_id(self, clone: CloneId) -> None:
        """Use another clone's id from now on, with the records of both. Nobody else may be using
        it."""


class LockService(Protocol):
    """Locks: exclusive over all clones, by compare-and-swap. Knows no rules about who may acquire
    one.

    Every method except `known` raises UnknownError (exit code 4) if the deciding place cannot be
    reached; that never means "free".
    """

    @property
    def clone(self) -> str:
        """The id of this clone; empty if it has none yet."""

    def read(self, name: str) -> Lock | None:
        """The lock `name` as it is now; None if it never was acquired."""

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
        """Acquire the lock with the next generation, if it still is as `expected`.

        Raises LockMovedError with the present value if it is not. A first acquisition expects None
        and gets generation 1. `clone` is the holder's, if it is not this one; empty if unknown. The
        lock expires at `until`.
        """

    def release(self, name: str, *, expected: Lock, reason: str = "", cause: Cause = ...) -> Lock:
        """Release the lock: no holder, the same generation. Raises LockMovedError.

        A lock without a holder does not change; returns `expected`.
        """

    def release_all(self, releases: Sequence[Release]) -> Sequence[Lock | None]:
        """Release several locks at once. Returns each as it is then; None for each that was not as
        expected any more."""

    def known(self, prefix: str = "") -> list[Lock]:
        """The locks whose name starts with `prefix`, by name, as this clone knows them from its own
        work and the last sync. Each may have changed since."""

    def problems(self) -> list[Problem]:
        """The locks that this clone cannot read, and why."""

    def history(self, name: str) -> list[Lock]:
        """Every value of the lock, oldest first; empty if it never was acquired."""

    def known_histories(self, names: Sequence[str]) -> Mapping[str, Sequence[Lock]]:
        """Every value of some locks, oldest first, as this clone knows them; without those that
        never were acquired."""

    def list(self, prefix: str = "") -> list[Lock]:
        """All locks whose name starts with `prefix`, by name."""

    def mend(self) -> Sequence[str]:
        """Restore locks that the deciding place lost, as this clone knows them from the last sync.
        Returns the names of the locks that were restored or became disputed."""


class IssueTracker(Protocol):
    """Issues: commands and authority. Numbers, ids and unique prefixes of ids name an issue."""

    @property
    def accepts_comment_commands(self) -> bool:
        """Whether people's comments are commands and answers there."""

    def known(self, *, closed: bool = False) -> list[Issue]:
        """As `list`, but as this clone knows them, without contacting anyone."""

    def list(self, *, closed: bool = False) -> list[Issue]:
        """Open issues, and closed ones on request, oldest first. Comments may be omitted."""

    def get(self, issue: str | int) -> Issue:
        """One issue with its comments. Raises NotFoundError."""

    def create(self, change: IssueChange, by: Actor) -> Issue:
        """Create an issue."""

    def change(self, issue: str | int, change: IssueChange, by: Actor) -> Issue:
        """Change fields; unchanged values are ignored silently. Raises NotFoundError."""

    def comment(self, issue: str | int, body: str, by: Actor, *, marker: str = "") -> Comment:
        """Add a comment. If one with `marker` exists, it is returned instead."""

    def set_holder(
        self, issue: str | int, by: Actor, *, add: Sequence[str] = (), remove: Sequence[str] = ()
    ) -> Issue:
        """Show who holds an issue now and who no longer does.

        Never raises UnknownError: what cannot be shown now is shown later. What the tracker cannot
        show at all is omitted. Raises NotFoundError for an unknown issue.
        """

    def close_all(self, closings: Sequence[Closing], by: Actor) -> None:
        """Close issues, in one step where that is possible. Each gets its comment, once, unless the
        tracker says by itself why it was closed."""

    def showing(self) -> AbstractContextManager[None]:
        """Inside this block the caller only shows what is recorded already, so it waits at most
        3 seconds in all. What takes longer raises UnknownError."""

    def send(self) -> Sequence[str]:
        """Send what could not be sent before, in order; returns descriptions of what was sent."""


class Forge(Protocol):
    """Pull requests, which merge finished work. Each has a number and one branch."""

    @property
    def is_local(self) -> bool:
        """Whether this clone merges: then exactly what was checked is merged. A host merges by
        itself, so a branch is first updated from the default branch."""

    def get(self, number: int) -> Pull:
        """One pull request. Raises NotFoundError."""

    def find(self, branch: str) -> Pull | None:
        """The open pull request of a branch, else its newest one, else None."""

    def open(self, request: NewPull, by: Actor) -> Pull:
        """Open a pull request; updates the open one of the same branch, if there is one."""

    def change(self, number: int, change: PullChange, by: Actor) -> Pull:
        """Change fields, draft, state; unchanged values are ignored. Raises NotFoundError."""

    def checks(self, pull: Pull) -> Checks:
        """The results of the host's own checks for the pull request's head."""

    def reviews(self, pull: Pull) -> Sequence[Review]:
        """The reviews on the host, by people and agents with write access, oldest first."""

    def merge(
        self, number: int, by: Actor, *, head: str, onto: str = "", message: str = ""
    ) -> Pull:
        """Merge it, if its branch still is at `head`, and the default branch at `onto` (if given
        and the forge can tell). A merge is final.

        Raises PullMovedError, RefusedError if it cannot be merged, NotFoundError, UnknownError.
        """

    def place_in_queue(self, number: int) -> int | None:
        """Its place in the host's own merge queue, from 1, or 0 if unknown; None if it is not
        there. To push to its branch would take it out."""

    def merge_all(self, steps: Sequence[MergeStep], by: Actor, *, onto: str) -> Sequence[Pull]:
        """Merge several into one default branch by one update, from `onto` to the last step's
        commit. Only where this clone merges. Raises as `merge`; then none is merged."""

    def list(self, *, closed: bool = False) -> list[Pull]:
        """Open pull requests, and merged and closed ones on request, oldest first."""


class KnowledgeBase(Protocol):
    """Finds notes by meaning. It contains nothing but the notes: it can be deleted and rebuilt."""

    def index(self, notes: Sequence[Note]) -> IndexUpdate:
        """Index exactly these notes. Raises KnowledgeError."""

    def search(
        self, query: str, notes: Sequence[Note], limit: int, among: Collection[str] | None = None
    ) -> Sequence[Hit]:
        """The best matches in `notes`, or in `among`; best first. Indexes them if needed. Raises
        KnowledgeError."""

    def extract_facts(self, text: str) -> Sequence[str]:
        """The facts in a text: the text itself, unless a language model is set up to extract them.

        Raises KnowledgeError if it found none; then nothing may be stored.
        """

    def health(self) -> Sequence[Finding]:
        """What limits the search quality, and what to do about it."""


class Context(Protocol):
    """The parts that a command works with. Each may be created on first use."""

    @property
    def ws(self) -> Workspace:
        """The repository, and who works in it."""

    @property
    def store(self) -> StateStore:
        """The records."""

    @property
    def world(self) -> World:
        """What is known now. After a write, a wait or an exchange it is another one."""

    @property
    def locks(self) -> LockService:
        """The locks."""

    @property
    def tracker(self) -> IssueTracker:
        """The issues."""

    @property
    def forge(self) -> Forge:
        """The pull requests."""

    @property
    def hub(self) -> GitHubRepository | None:
        """The repository on GitHub; None if issues are in the state."""
