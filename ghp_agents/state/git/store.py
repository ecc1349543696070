"""The state in git: each clone writes only its own ref.

Most commands only read, so what writes or uses the remote is imported late.
"""

import contextlib
import functools
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ghp_agents.core.errors import StateMovedError
from ghp_agents.core.files import LockTimeoutError
from ghp_agents.core.ids import Actor, CloneId
from ghp_agents.git.process import GitError
from ghp_agents.hotpath import heartbeat, news_flag
from ghp_agents.ports import Snapshot
from ghp_agents.state.coordination import coordination_remote
from ghp_agents.state.git import outbox, read
from ghp_agents.state.git.sync_status import asked_at, news_age, news_at, read_status
from ghp_agents.state.join import Absorption, SetAside, Settled, SyncReport, SyncStatus, Tip
from ghp_agents.state.presence import Agents
from ghp_agents.state.private_repo import find_repository, open_repository
from ghp_agents.state.record import NOTES, Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.state.ledger import LedgerEntry


class GitRefsStore:
    """`ports.StateStore` on the clone's private repository. With `at` (seconds) it is for reading
    only: its snapshots show that time. `ring` has records sent, and is called before they are
    confirmed."""

    def __init__(
        self,
        ws: Workspace,
        at: float | None = None,
        ring: Callable[[], None] = lambda: None,
    ) -> None:
        self._ws = ws
        self._at = at
        self._ring = ring
        self._held: list[int] | None = None  # the lock's descriptors while this process holds it
        self._lock = contextlib.ExitStack()
        self._beside: list[Record] = []
        self._read: tuple[list[Tip], read.KnownFiles] = ([], read.KnownFiles())
        self._derived: tuple[tuple[object, ...], dict[Hashable, Any]] = ((), {})

    def snapshot(self, at: float | None = None) -> read.GitSnapshot:
        """The state now, or at a time. Writes nothing: an untouched clone has an empty state.

        The same one for the whole moment, so what was read of it is not read again.
        """
        if at is not None:
            return self._read_snapshot(at)
        return self._ws.kept.get((self, "snapshot"), lambda: self._read_snapshot(self._at))

    def _read_snapshot(self, at: float | None) -> read.GitSnapshot:
        # Read the outbox first: what a fold removes meanwhile is in the commits read afterwards.
        waiting = outbox.waiting(self._ws) if at is None else None
        refused = outbox.refused(self._ws) if at is None else None
        repository = find_repository(self._ws)
        if repository:
            repository.notice_rivals()  # refs that were listed before the outbox may be too old
        tips = read.tips(repository, self._read[0]) if repository else []
        if at is not None and repository:
            tips = read.tips_at(repository, tips, at)
        if self._read[0] != tips:
            self._read = (tips, read.KnownFiles())
        if self._derived[0] != (tips, waiting, refused):
            self._derived = (tips, waiting, refused), {}
        return read.GitSnapshot(
            self._ws,
            repository,
            tips,
            waiting,
            refused,
            past=at is not None,
            known_files=self._read[1],
            derived=self._derived[1],
        )

    def commit(self, records: Sequence[Record], expected: str) -> None:
        """Add records if the clone still is at `expected`; see `ports.StateStore`."""
        from ghp_agents.state.events import STEP, kind_of
        from ghp_agents.state.git import fold
        from ghp_agents.state.without_secrets import cleaned

        via = heartbeat.via(self._ws.environ)
        records = [
            cleaned(record._replace(via=record.via or via)) for record in (*records, *self._beside)
        ]
        queued: Path | None = None
        try:
            with self._locked() as held:
                repository = open_repository(self._ws)
                if held:
                    fold.compare(self._ws, repository, expected)
                    queued = outbox.enqueue(self._ws, records)
                    self._unlock()  # others can queue while this one is folded
                else:
                    fold.commit(self._ws, repository, records, expected, held)
            if queued:
                fold.flush(self._ws, repository, queued, self._locked)
        except (LockTimeoutError, GitError, OSError, StateMovedError) as error:
            if queued:
                outbox.keep(self._ws, queued, records, error)
            elif isinstance(error, StateMovedError):
                raise
            else:
                outbox.put(self._ws, records, error)
        self._beside = []
        if records:
            fold.set_due(self._ws, self._ws.clock.now())
            self._ring()
        heard = (record for record in records if STEP in kind_of(record.event).reach)
        for author in {record.actor for record in heard}:
            news_flag.set_for_others(self._ws.folders, "" if author.is_person else author.name)

    @contextlib.contextmanager
    def commit_with(self, records: Sequence[Record]) -> Iterator[None]:
        """Add `records` in the same step as the next commit; see `ports.StateStore`."""
        self._beside = [*records]
        try:
            yield
            left, self._beside = self._beside, []
            if left:
                transact(self, lambda _: (None, left))
        finally:
            self._beside = []

    def fold(self) -> int:
        """Commit live presence and the outbox. Raises GhpError, OSError."""
        from ghp_agents.state.git import fold, publish, repack

        self._ws.ghp_dir.mkdir(parents=True, exist_ok=True)
        repository = open_repository(self._ws)
        commits = fold.fold(self._ws, repository, self._locked)
        fold.sweep_temporary(self._ws, repository)
        if commits:
            publish.write_view(self._ws, self.snapshot())
        repack.after_fold(self._ws, repository)
        return commits

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the clone's lock, if it can be acquired in time."""
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(LockTimeoutError, OSError):
                stack.enter_context(self._locked())
            yield

    def sync(self, *, push: bool = True, paced: bool = False, fetch: bool = True) -> SyncReport:
        """Fold, then exchange with the coordination remote; see `ports.StateStore`."""
        from ghp_agents.state.git import fold, publish, sync, throttle

        stuck: str | None = None
        try:
            self.fold()
        except LockTimeoutError as error:
            stuck = str(error)  # existing commits can be sent all the same
        except OSError:
            stuck = None  # not writable here; `sync_status` counts what waits
        if paced:
            soonest = throttle.next_exchange(self._ws)
            if soonest > self._ws.clock.now():
                fold.set_due(self._ws, soonest)
                status = self.sync_status()
                refused = throttle.is_refused(self._ws)
                again_at = None if refused or status.remote is None else soonest
                return SyncReport(remote=status.remote, unsent=status.unsent, again_at=again_at)
            push = push and not throttle.is_refused(self._ws)
        report = sync.safely(self._ws, send=push, wait=not paced, fetches=fetch)
        if report.news or report.notes:
            publish.write_view(self._ws, self.snapshot())
        throttle.schedule(self._ws, report)
        return report._replace(trouble=report.trouble or stuck)

    def publish(
        self,
        pages: Callable[[Snapshot, Agents], Mapping[str, bytes]],
        *,
        gone: Collection[str] = (),
        create: bool = True,
    ) -> SyncReport:
        """Sync, then push the joined state as a branch that people can read."""
        from ghp_agents.state import presence
        from ghp_agents.state.git import publish

        report = self.sync()
        if not report.fetched:
            return report
        if not self._ws.settings.publish:
            off = ("not published, because `agents.publish` is false",) if create else ()
            return report._replace(notes=(*report.notes, *off))

        def render() -> dict[str, bytes]:
            snapshot = self.snapshot()
            reported = snapshot.agents().items()
            agents = {name: record for name, record in reported if name not in gone}
            documents = {presence.PATH: presence.encode(agents), **snapshot.files(NOTES)}
            return {**documents, **pages(snapshot, agents)}

        try:
            repository = open_repository(self._ws)
            return publish.publish(self._ws, repository, render, report, create=create)
        except GitError as error:
            return report._replace(trouble=str(error))

    def hear(self, timeout: float, *, needed: bool = False) -> SyncReport:
        """Only fetch, within `timeout` seconds; see `ports.StateStore`."""
        if coordination_remote(self._ws) is None:
            return SyncReport(remote=None)
        from ghp_agents.state.git import sync

        return sync.hear(self._ws, timeout, needed=needed)

    def set_aside(self) -> list[SetAside]:
        """The records that the remote refused; see `ports.StateStore`."""
        from ghp_agents.state.git import set_aside

        return set_aside.all_of(self._ws)

    def retry_refused(self, ids: Collection[str]) -> list[SetAside]:
        """Send refused records with the next sync."""
        from ghp_agents.state.git import set_aside

        return set_aside.retry(self._ws, ids)

    def drop_refused(self, ids: Collection[str]) -> list[SetAside]:
        """Delete refused records."""
        from ghp_agents.state.git import set_aside

        return set_aside.drop(self._ws, ids)

    def remote(self) -> str | None:
        """The name of the coordination remote; None: there is none."""
        remote = coordination_remote(self._ws)
        return remote.name if remote else None

    def sync_status(self) -> SyncStatus:
        """This clone's sync status, from its notes; starts no exchange."""
        return read_status(self._ws)

    def news_age(self) -> float | None:
        """Seconds since the last news from other clones; see `ports.StateStore`."""
        return news_age(self._ws)

    def news_at(self) -> float | None:
        """When the last news from other clones came; None: never."""
        return news_at(self._ws)

    def asked_at(self) -> float | None:
        """When the remote was last asked; None: never."""
        return asked_at(self._ws)

    def ledger(self, after: Sequence[Tip] = ()) -> "list[LedgerEntry]":
        """All entries, or all after some tips, in ledger order. Read once in a moment."""
        from ghp_agents.state.git import history

        repository = find_repository(self._ws)
        if repository is None:
            return []
        read_entries = functools.partial(history.read_entries, repository, after)
        return self._ws.kept.get((self, "ledger", *after), read_entries)

    def absorb_clones(self, tips: Sequence[Tip], by: Actor) -> Absorption:
        """Merge other clones' records and delete their remote refs; see `ports.StateStore`."""
        from ghp_agents.state.git import absorb

        with self._locked() as held:
            refused = absorb.take_in(self._ws, open_repository(self._ws), tips, by, held)
        self.sync()
        return absorb.dismiss(self._ws, open_repository(self._ws), tips, refused)

    def compact(self, subjects: Sequence[Settled]) -> int:
        """Take settled records off this clone's tip; see `ports.StateStore`."""
        from ghp_agents.state.git import compact

        return compact.compact(self._ws, open_repository(self._ws), subjects, self._locked)

    def use_clone_id(self, clone: CloneId) -> None:
        """Use another clone's id from now on."""
        from ghp_agents.state.git import absorb

        with self._locked() as held:
            absorb.use_clone_id(self._ws, open_repository(self._ws), clone, held)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[list[int]]:
        from ghp_agents.state.git import fold

        if self._held is not None:
            yield self._held
            return
        self._ws.ghp_dir.mkdir(parents=True, exist_ok=True)
        with self._lock:
            self._held = self._lock.enter_context(fold.state_lock(self._ws))
            try:
                yield self._held
            finally:
                self._held = None

    def _unlock(self) -> None:
        """Give the lock back before the end of its block."""
        self._held = None
        self._lock.close()
