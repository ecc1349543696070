"""One batch of the queue: choose pull requests, check them together, merge them at once."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from ghp_agents.core.errors import RefusedError
from ghp_agents.git import worktree
from ghp_agents.guard import held_paths
from ghp_agents.locks.held import HeldLock
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import claim_name
from ghp_agents.pulls import check_cache, run_checks, submodule_pointers
from ghp_agents.pulls.branches import rewritten_main
from ghp_agents.pulls.check import Check, red
from ghp_agents.pulls.check_place import CheckPlace
from ghp_agents.pulls.merging import (
    merge,
    merge_evidence,
    merge_lock,
    merge_trial,
    record_review,
    unfinished_merges,
)
from ghp_agents.pulls.merging.batch import Sorted, Sorter
from ghp_agents.pulls.merging.merge import Merged, Outcome
from ghp_agents.pulls.merging.merge_looks import MergeLooks
from ghp_agents.pulls.merging.merge_stack import MergeStack, Queued, names
from ghp_agents.pulls.merging.merge_trial import Merger, UncheckedError
from ghp_agents.pulls.merging.send_back import SentBack, send_back, was_sent_back
from ghp_agents.pulls.pull import EnqueuedError, Pull, PullMovedError, refuse_unready
from ghp_agents.state import remote_branches as branches

UNCHANGED = "it was sent back, and nothing has changed since"


class Passed(NamedTuple):
    """A queued pull request that was neither merged nor sent back."""

    pull: Pull
    why: str
    hint: str = ""  # what to do about it


T = TypeVar("T", bound=Merged | SentBack | merge.Enqueued | Passed)


class Run(NamedTuple):
    """One run of the checks on some pull requests together."""

    queued: tuple[Queued, ...]
    checks: tuple[Check, ...]


class BatchMerger:
    """Merges the pull requests of a queue batch by batch."""

    def __init__(
        self, who: Merger, lock: HeldLock, place: CheckPlace, pulls: Sequence[Pull]
    ) -> None:
        self.waiting: list[Pull] = [*pulls]
        self._who, self._lock, self._place = who, lock, place
        self._histories: Mapping[str, Sequence[Lock]] = {}
        self._taken_out: frozenset[str] = frozenset()  # of main, see `rewritten_main`
        self._runs: dict[int, Run] = {}  # by the last pull request in it: the last such run

    def merge_next(self) -> Iterator[Outcome | Passed]:
        """Merge the next batch, and send back what fails. Raises PullMovedError: then those that
        are still `waiting` can be tried again."""
        yield from self._refresh()
        if not self.waiting:
            return
        claims = [claim_name(pull.issue) for pull in self.waiting if pull.issue is not None]
        held_paths.fetch_leases(self._who.me.ctx.store)
        self._histories = self._who.me.ctx.locks.known_histories(claims)
        base = self.waiting[0].base
        pulls = [pull for pull in self.waiting if pull.base == base]
        tips = branches.tips(self._who.ws, base, *(pull.branch for pull in pulls))
        branches.connect(self._who.ws, base, tips)
        looks = MergeLooks(self._who, base, tips, pulls)
        if looks.trunk:
            self._taken_out = rewritten_main.taken_out(self._who.me.ctx, base, looks.trunk)
        stack = MergeStack(self._who.ws, looks.trunk, self._who.me.name)
        chosen: list[Queued] = []
        for pull in pulls:
            if len(chosen) < self._who.ws.settings.merge_batch:
                yield from self._choose(pull, looks, stack, chosen)
        notes: dict[int, tuple[str, ...]] = {}
        yield from self._leave_out_held(stack, chosen, notes)
        if chosen:
            yield from self._check_and_merge(stack, chosen, notes)

    def _refresh(self) -> Iterator[Outcome | Passed]:
        """Read the pull requests again: somebody may have changed them during the last batch."""
        current = {pull.number: pull for pull in self._who.forge.list()}
        for old in [*self.waiting]:
            pull = current.get(old.number) or self._who.forge.get(old.number)
            self.waiting[self.waiting.index(old)] = pull
            if pull.state == "merged":
                yield self._done(merge.clean_up(self._who, pull, before=True))
                continue
            try:
                refuse_unready(pull)
            except RefusedError as refused:
                yield self._done(Passed(pull, str(refused), refused.hint))

    def _choose(
        self, pull: Pull, looks: MergeLooks, stack: MergeStack, chosen: list[Queued]
    ) -> Iterator[Outcome | Passed]:
        """Add a pull request to the batch if it may be merged, and git can merge it with the
        others. One that only conflicts with the others waits."""
        try:
            look = looks.look(pull)
            if look.is_there:
                me, head = self._who.me.actor, look.head
                merged = self._who.forge.merge(pull.number, me, head=head, onto=look.trunk)
                yield self._done(merge.clean_up(self._who, merged, before=True))
                return
            if was_sent_back(self._who.me.ctx.store.snapshot(), pull, look.head, look.trunk):
                yield self._done(Passed(pull, UNCHANGED))
                return
            failures = merge_trial.of_the_host(self._who, pull._replace(head=look.head))
            if failures:
                yield self._send_back(Queued(pull, look.head), look.trunk, "checks", failures)
                return
            rewritten_main.refuse(
                self._who.me.ctx, pull.base, look.trunk, pull.branch, look.head, self._taken_out
            )
            merge_evidence.require(self._who, pull, look, by_name=False, histories=self._histories)
            record_review.require(self._who, pull, look, by_name=False)
            submodule_pointers.refuse(self._who.ws, look.trunk, look.head)
            entry = Queued(pull, look.head)
            if not stack.conflicts(entry):
                alone = look._replace(candidate=stack.commit([entry]))
                record_review.require_person(self._who, pull, alone, by_name=False)
            if entry in stack.mergeable([*chosen, entry]):
                chosen.append(entry)
            elif paths := stack.conflicts(entry):
                yield self._send_back(entry, stack.trunk, "conflict", "\n".join(paths))
        except (PullMovedError, UncheckedError):
            raise
        except RefusedError as refused:
            yield self._done(Passed(pull, str(refused), refused.hint))

    def _leave_out_held(
        self, stack: MergeStack, chosen: list[Queued], notes: dict[int, tuple[str, ...]]
    ) -> Iterator[Passed]:
        """Take out those that change what others hold; `notes` gets the warnings for the rest."""
        for step, entry in zip(stack.steps(chosen), [*chosen], strict=True):
            try:
                warnings = merge.refuse_held(self._who, entry.pull, step.paths, fetch=False)
                notes[step.number] = warnings
            except RefusedError as refused:
                chosen.remove(entry)
                yield self._done(Passed(entry.pull, str(refused), refused.hint))
        chosen[:] = stack.mergeable(chosen)

    def _check_and_merge(
        self, stack: MergeStack, chosen: Sequence[Queued], notes: Mapping[int, tuple[str, ...]]
    ) -> Iterator[Outcome | Passed]:
        try:
            batch = self._check_with_main(stack, chosen)
        except UncheckedError:
            raise
        except RefusedError as refused:
            yield from self._pass(chosen, refused)
            return
        trunk = stack.commit(batch.good)
        try:
            merging = self._merge if self._who.forge.is_local else self._merge_on_host
            yield from merging(stack, batch.good, notes)
        except PullMovedError:
            raise
        except RefusedError as refused:
            trunk = stack.trunk
            yield from self._pass(batch.good, refused)
        for entry in batch.bad:
            yield self._send_back(entry, trunk, "checks", self._report(entry))

    def _pass(self, some: Sequence[Queued], refused: RefusedError) -> Iterator[Passed]:
        self._lock.confirm()  # raises if that was the reason
        numbers = {pull.number for pull in self.waiting}
        for entry in some:
            if entry.pull.number in numbers:
                yield self._done(Passed(entry.pull, str(refused), refused.hint))

    def _report(self, queued: Queued) -> str:
        run = self._runs[queued.pull.number]
        others = names([entry.pull.number for entry in run.queued[:-1]])
        failed = red(run.checks)
        text = merge.report(failed) if failed else ""
        return f"{text}\n\nChecked together with {others}." if others else text

    def _merge(
        self, stack: MergeStack, good: Sequence[Queued], notes: Mapping[int, tuple[str, ...]]
    ) -> Iterator[Merged]:
        """Merge those that passed together, by one update of the default branch."""
        if not good:
            return
        who, numbers = self._who, [entry.pull.number for entry in good]
        run = self._runs.get(numbers[-1])
        unfinished_merges.note(who.ws, numbers)
        self._lock.confirm()
        pulls = who.forge.merge_all(stack.steps(good), who.me.actor, onto=stack.trunk)
        for merged in merge.clean_up_all(who, pulls, run.checks if run else ()):
            yield self._done(merged._replace(warnings=notes[merged.pull.number]))
        unfinished_merges.forget(who.ws)

    def _merge_on_host(
        self, stack: MergeStack, good: Sequence[Queued], notes: Mapping[int, tuple[str, ...]]
    ) -> Iterator[Outcome | Passed]:
        """Let the host merge them one after another, as long as main is what was checked. The rest
        stays in the queue."""
        who, expected = self._who, stack.trunk
        run = self._runs.get(good[-1].pull.number) if good else None
        for number, entry in enumerate(good, start=1):
            self._lock.confirm()
            if branches.tips(who.ws, entry.pull.base).get(entry.pull.base) != expected:
                raise PullMovedError(entry.pull, entry.pull.base)
            try:
                pull = who.forge.merge(
                    entry.pull.number, who.me.actor, head=entry.head, onto=expected
                )
            except PullMovedError:
                raise
            except EnqueuedError as queued:
                yield self._done(merge.Enqueued(queued.pull, queued.place))
                continue
            except RefusedError:  # e.g. the host wants it up to date with main
                yield self._alone(entry)
                return
            merged = merge.clean_up(who, pull, run.checks if run else ())
            yield self._done(merged._replace(warnings=notes[pull.number]))
            expected = branches.tips(who.ws, pull.base).get(pull.base, "")
            if not self._same_files(expected, stack.commit(good[:number])):
                who.tell(f"{pull.base} is not what was checked. Checking the rest again.")
                return

    def _alone(self, entry: Queued) -> Outcome | Passed:
        try:
            number = entry.pull.number
            return self._done(merge.merge_one(self._who, self._lock, number, by_name=False))
        except PullMovedError:
            raise
        except RefusedError as refused:
            self._lock.confirm()
            return self._done(Passed(entry.pull, str(refused), refused.hint))

    def _same_files(self, first: str, second: str) -> bool:
        folder = self._who.ws.folder
        return bool(first) and worktree.tree(folder, first) == worktree.tree(folder, second)

    def _send_back(self, entry: Queued, trunk: str, reason: str, text: str) -> SentBack:
        me = self._who.me
        back = send_back(me, entry.pull, head=entry.head, trunk=trunk, reason=reason, text=text)
        return self._done(back)

    def _done(self, outcome: T) -> T:
        """Take the pull request of an outcome out of the queue."""
        number = outcome.pull.number
        self.waiting = [pull for pull in self.waiting if pull.number != number]
        return outcome

    def _check_with_main(self, stack: MergeStack, chosen: Sequence[Queued]) -> Sorted[Queued]:
        """Check a batch. Raises RefusedError if all fail, and main itself, too; for the same batch
        on the same main only the first call runs the checks."""
        who, base = self._who, chosen[0].pull.base
        what = (stack.trunk, *((entry.pull.number, entry.head) for entry in chosen))
        error = who.red_mains.get(what)
        if error is None:
            batch = self._check(stack, chosen)
            if batch.good or not batch.bad:
                return batch
            rules = run_checks.rules(who.ws, stack.trunk)
            error = merge_trial.red_main(who, rules, self._place, base, stack.trunk)
            if error is None:
                return batch
            who.red_mains[what] = error
        raise error

    def _check(self, stack: MergeStack, chosen: Sequence[Queued]) -> Sorted[Queued]:
        """Check a batch, and find the pull requests that fail."""
        rules = run_checks.rules(self._who.ws, stack.trunk)
        if not rules.checks:
            merge_trial.refuse_unchecked(self._who, chosen[0].pull, chosen[0].head)
            return Sorted(tuple(chosen))

        tried: set[str] = set()

        def passes(some: Sequence[Queued]) -> bool:
            self._lock.renew_if_due()
            numbers = [entry.pull.number for entry in some]
            ws, commit = self._who.ws, stack.commit(some)
            tree = worktree.tree(ws.folder, commit)
            checks = check_cache.passed(ws, rules, tree)
            if checks is None:
                again = " again" if commit in tried else ""
                tried.add(commit)
                together = " together" if len(some) > 1 else ""
                if again or together:
                    self._who.tell(f"Checking {names(numbers)}{together}{again}.")
                place, branch = self._place.at(commit), some[-1].pull.branch
                checks = run_checks.run(ws, rules, place, branch, self._who.tell)
                check_cache.remember(ws, rules, tree, checks)
                if failed := red(checks):
                    self._who.tell(f"{names(numbers)}{together}: {failed.line}.")
            self._runs[numbers[-1]] = Run(tuple(some), checks)
            return red(checks) is None

        who = names([queued.pull.number for queued in chosen])
        self._lock.renew(merge_lock.from_here(self._who.me, f"checks {who}"))
        return Sorter(passes, stack.mergeable, rules.retry_failed_checks).sort(chosen)
