"""Find out which pull requests of a batch fail its checks, in few runs. Pure: it runs nothing."""

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Sorted(NamedTuple, Generic[T]):
    """A batch after its checks."""

    good: tuple[T, ...]  # they passed together, in this order
    bad: tuple[T, ...] = ()  # each made a passing combination fail
    left: tuple[T, ...] = ()  # git cannot merge them after all in the order that remained


class Sorter(Generic[T]):
    """Sorts one batch.

    `passes` runs the checks on a combination. `mergeable` returns those of a sequence that git can
    merge in this order. A failure counts against the only one of a combination of which nothing
    else shows that it is good, and only after `retries` more failures.
    """

    def __init__(
        self,
        passes: Callable[[Sequence[T]], bool],
        mergeable: Callable[[Sequence[T]], Sequence[T]],
        retries: int,
    ) -> None:
        self._check, self._mergeable, self._retries = passes, mergeable, retries
        self._failures: list[tuple[T, ...]] = []
        self._good: tuple[T, ...] = ()
        self._bad: list[T] = []
        self._left: list[T] = []

    def sort(self, batch: Sequence[T]) -> Sorted[T]:
        """Sort a batch that git can merge in this order.

        A bisection finds the first one that makes the checks fail. The check of all others then
        confirms it, or a repeated run does.
        """
        todo, is_failing = tuple(batch), False
        while todo:
            if not is_failing and self._passes(self._good + todo):
                self._good += todo
                break
            passing = self._bisect(todo)
            self._good += todo[:passing]
            suspect, todo = todo[passing], self._keep(todo[passing + 1 :])
            if todo and self._passes(self._good + todo):
                self._good, todo = self._good + todo, ()
            is_failing = bool(todo)
            if self._is_confirmed(suspect):
                self._bad.append(suspect)
        return Sorted(self._good, tuple(self._bad), tuple(self._left))

    def _passes(self, some: tuple[T, ...]) -> bool:
        if self._check(some):
            return True
        self._failures.append(some)
        return False

    def _bisect(self, todo: tuple[T, ...]) -> int:
        """Return how many of `todo` pass with the good ones, where one more fails."""
        passing, failing = 0, len(todo)
        while failing - passing > 1:
            middle = (passing + failing) // 2
            if self._passes(self._good + todo[:middle]):
                passing = middle
            else:
                failing = middle
        return passing

    def _keep(self, todo: tuple[T, ...]) -> tuple[T, ...]:
        """Return those that git can merge without the suspect; the others wait."""
        kept = self._mergeable(self._good + todo)[len(self._good) :]
        self._left += [change for change in todo if change not in kept]
        return tuple(kept)

    def _is_confirmed(self, suspect: T) -> bool:
        """Whether a suspect failed often enough; otherwise it is among the good ones then."""
        again = (*self._good, suspect)
        if len(self._mergeable(again)) < len(again):
            self._left.append(suspect)
            return False
        while self._count(suspect) <= self._retries:
            if self._passes(again):
                self._good = again
                return False
        return True

    def _count(self, suspect: T) -> int:
        """Count the failures that nobody but the suspect explains."""
        allowed = {*self._good, suspect}
        return sum(suspect in some and allowed.issuperset(some) for some in self._failures)
