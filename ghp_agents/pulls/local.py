"""Pull requests without GitHub: kept in the state in git, and merged by this clone."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from ghp_agents.core.errors import RefusedError, UnknownError
from ghp_agents.core.files import random_hex
from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.git import merge as git_merge
from ghp_agents.git import worktree, worktree_admin
from ghp_agents.git.branch_range import between
from ghp_agents.git.process import GitError
from ghp_agents.issues.numbers import given_numbers, next_number
from ghp_agents.ports import LockService, Snapshot, StateStore
from ghp_agents.pulls import replay
from ghp_agents.pulls.local_pulls import read_all, read_events
from ghp_agents.pulls.merging import merge_stack
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
    no_base,
    not_found,
    refuse_unready,
)
from ghp_agents.pulls.record import PATHS, PullEvent, entry
from ghp_agents.pulls.replay import NumberedPull, PullEvents
from ghp_agents.state import remote_branches as branches
from ghp_agents.state.record import Record, highest
from ghp_agents.state.remote import PushOutcome
from ghp_agents.state.transact import transact
from ghp_agents.workspace import Workspace, now_text


class LocalForge:
    """`ports.Forge` on records. Issues and pull requests share one sequence of numbers."""

    def __init__(self, ws: Workspace, store: StateStore, locks: LockService) -> None:
        self._ws = ws
        self._store = store
        self._locks = locks

    @property
    def is_local(self) -> bool:
        """This clone merges."""
        return True

    def get(self, number: int) -> Pull:
        """Return one pull request. Raises NotFoundError."""
        return _among(read_all(self._store.snapshot()), number).pull

    def find(self, branch: str) -> Pull | None:
        """Return the open pull request of a branch, else its newest one."""
        return newest(self.list(closed=True), branch)

    def checks(self, pull: Pull) -> Checks:
        """Return no checks: there is no host."""
        return Checks()

    def open(self, request: NewPull, by: Actor) -> Pull:
        """Open a pull request, or update the open one of the same branch."""
        request = checked_new(request)
        existing = self.find(request.branch)
        number = None
        if existing is None or existing.state != "open":
            used = given_numbers(self._store.snapshot())
            number = next_number(self._locks, by.name, used, f"for {request.branch}")
        record = random_hex(6)

        def decide(snapshot: Snapshot) -> tuple[Pull, list[Record]]:
            log = read_events(snapshot)
            pulls = [item.pull for item in read_all(snapshot)]
            previous = newest(pulls, request.branch)
            if previous and previous.state == "open":
                new = brought_up(previous, request)
                if previous.sent != Sent(request.head, by):
                    new = new._replace(head=request.head)  # sent by another actor now
                return self._record_change(snapshot, log, previous.number, new, by, record)
            fields = {name: value for name, value in request._asdict().items() if value is not None}
            pull = replay.pull_id(request.branch, pulls)
            event = self._new_event(snapshot, log, pull, record, "open", by)
            event = event._replace(number=number, fields=fields)
            created = _get_by_id(log.with_one(event), pull)
            return created, [entry(event, created, f"{created.branch}: {created.title}")]

        return transact(self._store, decide)

    def change(self, number: int, change: PullChange, by: Actor) -> Pull:
        """Change fields; fields that have the value already are not recorded. Raises
        NotFoundError."""
        wanted, record = checked(change), random_hex(6)

        def decide(snapshot: Snapshot) -> tuple[Pull, list[Record]]:
            log = read_events(snapshot)
            current = _get(log, number).pull
            return self._record_change(
                snapshot, log, number, effective(current, wanted), by, record
            )

        return transact(self._store, decide)

    def _record_change(
        self,
        snapshot: Snapshot,
        log: PullEvents,
        number: int,
        new: PullChange,
        by: Actor,
        record: str,
    ) -> tuple[Pull, list[Record]]:
        current = _get(log, number)
        fields = {name: value for name, value in new._asdict().items() if value is not None}
        if not fields:
            return current.pull, []
        event = self._new_event(snapshot, log, current.id, record, "change", by)._replace(
            fields=fields
        )
        changed = _get_by_id(log.with_one(event), current.id)
        return changed, [entry(event, changed, ", ".join(_describe_change(fields)))]

    def reviews(self, pull: Pull) -> Sequence[Review]:
        """Return no reviews: there is no host."""
        return ()

    def merge(
        self, number: int, by: Actor, *, head: str, onto: str = "", message: str = ""
    ) -> Pull:
        """Merge in this clone: the default branch moves by compare-and-swap. Only a worktree that
        has it checked out changes; git fast-forwards it."""
        pull = self.get(number)
        if pull.state == "merged":
            return pull
        tips = branches.tips(self._ws, pull.branch, pull.base)
        trunk = tips.get(pull.base)
        if trunk is None:
            raise no_base(pull.base)
        # Already merged: a process was killed after the merge, or somebody merged by hand.
        is_here = bool(head) and bool(worktree_admin.tip(self._ws.folder, head))
        landed = git_merge.landed(self._ws.folder, trunk, head) if is_here else None
        if landed is None:
            _refuse_moved(pull, tips, head)
            if onto and trunk != onto:
                raise PullMovedError(pull, pull.base)
            landed = self._land(pull, by, trunk, head, message)
        paths: list[str] = []
        with suppress(GitError):  # e.g. it is the first commit
            paths = between(self._ws.folder, f"{landed}^1", head).paths
        return self._record_merged([MergeStep(number, head, landed, tuple(paths))], by)[0]

    def place_in_queue(self, number: int) -> int | None:
        """This clone merges: there is no such queue."""
        return None

    def merge_all(self, steps: Sequence[MergeStep], by: Actor, *, onto: str) -> Sequence[Pull]:
        """Merge several: the default branch moves once, by compare-and-swap."""
        pulls = [self.get(step.number) for step in steps]
        base = pulls[0].base
        tips = branches.tips(self._ws, base, *(pull.branch for pull in pulls))
        for pull, step in zip(pulls, steps, strict=True):
            _refuse_moved(pull, tips, step.head)
        if tips.get(base) != onto:
            raise PullMovedError(pulls[0], base)
        self._publish(
            merge_stack.names([step.number for step in steps]), pulls[0], onto, steps[-1].commit
        )
        return self._record_merged(steps, by)

    def _land(self, pull: Pull, by: Actor, trunk: str, head: str, message: str) -> str:
        text = merge_stack.message(self._ws, pull, head, message)
        landed = git_merge.merge_commits(
            self._ws.folder, self._ws.ghp_dir, trunk, head, self._ws.settings.merge_method,
            text, branches.identity(self._ws, by.name),
        )  # fmt: skip
        if landed.conflicts:
            raise MergeConflictError(pull, landed.conflicts)
        self._publish(f"#{pull.number}", pull, trunk, landed.oid)
        return landed.oid

    def _publish(self, names: str, pull: Pull, trunk: str, commit: str) -> None:
        if branches.where(self._ws) is None:
            why = worktree_admin.forward(self._ws.folder, pull.base, trunk, commit)
            if why.endswith("has moved"):
                raise PullMovedError(pull, pull.base)
            if why:
                raise RefusedError(
                    f"Cannot merge {names}: {why}.",
                    hint="Commit the changes there on a branch of their own (`git switch -c "
                    "NAME`), then merge again.",
                )
            return
        pushed = branches.push(self._ws, commit, pull.base, expected=None)
        if pushed.answer is PushOutcome.MOVED:
            raise PullMovedError(pull, pull.base)
        if pushed.answer is PushOutcome.REFUSED:
            raise RefusedError(
                f"The remote refused the merge of {names}: {pushed.words}.",
                hint="A protected branch needs a pull request on its host: merge it there.",
            )
        if pushed.answer is PushOutcome.UNKNOWN:
            now = branches.tips(self._ws, pull.base).get(pull.base, "")
            if not worktree.contains(self._ws.folder, now, commit):
                raise UnknownError(
                    f"It is unknown whether {names} was merged: {pushed.words}",
                    hint="Run the same command again; it checks first.",
                )

    def _record_merged(self, steps: Sequence[MergeStep], by: Actor) -> list[Pull]:
        records = [random_hex(6) for _ in steps]

        def decide(snapshot: Snapshot) -> tuple[list[Pull], list[Record]]:
            log, before = read_events(snapshot), read_all(snapshot)
            events: list[PullEvent] = []
            for step, record in zip(steps, records, strict=True):
                target = _among(before, step.number)
                if target.pull.state != "merged":
                    event = self._new_event(snapshot, log, target.id, record, "merge", by)
                    events.append(event._replace(fields=_merge_fields(step)))
                    log = log.with_one(events[-1])
            after = replay.fold(log)
            pulls = [_among(after, step.number).pull for step in steps]
            by_id = {target.id: target.pull for target in after}
            return pulls, [_merge_entry(event, by_id[event.pull]) for event in events]

        return transact(self._store, decide)

    def _new_event(
        self, snapshot: Snapshot, log: PullEvents, pull: str, record: str, kind: str, by: Actor
    ) -> PullEvent:
        clock = highest(snapshot.clock, log.clock) + 1
        at = Timestamp(now_text(self._ws))
        return PullEvent(pull, record, kind, clock, snapshot.clone, at, by, {})

    def list(self, *, closed: bool = False) -> list[Pull]:
        """List open pull requests, with `closed` all of them, oldest first."""
        pulls = read_all(self._store.snapshot())
        return [item.pull for item in pulls if closed or item.pull.state == "open"]


def _refuse_moved(pull: Pull, tips: Mapping[str, str], head: str) -> None:
    refuse_unready(pull)
    if tips.get(pull.branch) != head:
        raise PullMovedError(pull._replace(head=tips.get(pull.branch, "")))


def _get(log: PullEvents, number: int) -> NumberedPull:
    return _among(replay.fold(log), number)


def _among(pulls: Sequence[NumberedPull], number: int) -> NumberedPull:
    for pull in pulls:
        if number in pull.numbers:
            return pull
    raise not_found(number)


def _get_by_id(log: PullEvents, pull: str) -> Pull:
    return next(x.pull for x in replay.fold(log) if x.id == pull)


def _merge_fields(step: MergeStep) -> dict[str, Any]:
    paths = [path for path in step.paths if path.isprintable()][:PATHS]
    fields: dict[str, Any] = {"head": step.head, "mergedAs": step.commit}
    return {**fields, "paths": paths} if paths else fields


def _merge_entry(event: PullEvent, merged: Pull) -> Record:
    return entry(event, merged, f"{merged.branch} as {event.fields['mergedAs'][:12]}")


def _describe_change(fields: dict[str, object]) -> list[str]:
    """Describe a change in a few words, for the ledger."""
    words = {"draft": "a draft" if fields.get("draft") else "ready", "state": fields.get("state")}
    words |= {"head": f"at {str(fields.get('head'))[:12]}"}
    return [str(words.get(name, name)) for name in fields]
