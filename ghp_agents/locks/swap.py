"""Decide about a lock and change it: the one loop for decisions that a compare-and-swap confirms.

A decision sees the lock, and acquires or releases it, or leaves it. If somebody else was faster, it
is made again on the lock as it is then. `state/transact.py` is the same for records.
"""

from collections.abc import Callable
from typing import TypeVar

from ghp_agents.core.errors import UnknownError
from ghp_agents.locks.lock import Lock, LockMovedError
from ghp_agents.ports import LockService

T = TypeVar("T")

ATTEMPTS = 20  # a lock changes hands rarely; more lost races than this mean that something is wrong


class LockView:
    """The lock that a decision is about, as it is or as this clone knows it."""

    def __init__(self, locks: LockService, name: str, lock: Lock | None, *, is_sure: bool) -> None:
        self.locks, self.name, self.lock = locks, name, lock
        self._is_sure = is_sure

    def confirm(self) -> None:
        """Make sure that the lock is as this clone knows it, before a result that no swap checks.
        Asks at most once. Raises LockMovedError, UnknownError."""
        if self._is_sure:
            return
        current = self.locks.read(self.name)
        if current != self.lock:
            raise LockMovedError(self.name, current)
        self._is_sure = True


def current_view(locks: LockService, name: str) -> LockView:
    """The lock as it is. Raises UnknownError."""
    return LockView(locks, name, locks.read(name), is_sure=True)


def known_view(locks: LockService, name: str) -> LockView:
    """The lock as this clone knows it. That is enough to swap it: an outdated value loses."""
    return LockView(locks, name, known_lock(locks, name), is_sure=False)


def known_lock(locks: LockService, name: str) -> Lock | None:
    """One lock as this clone knows it; None if it knows none of that name."""
    return next((lock for lock in locks.known(name) if lock.name == name), None)


def swap(
    seen: LockView,
    decide: Callable[[LockView], T],
    *,
    attempts: int = ATTEMPTS,
    hint: str = "Try again.",
) -> T:
    """The result of `decide`, which decides by `seen.lock` and swaps the lock against it.

    Decides again while that raises LockMovedError. Raises UnknownError after `attempts`, and
    whatever else `decide` raises.
    """
    for _ in range(attempts):
        try:
            return decide(seen)
        except LockMovedError as moved:
            seen = LockView(seen.locks, seen.name, moved.current, is_sure=True)
    raise UnknownError(
        f"Others changed the lock {seen.name} {attempts} times while this command tried to.",
        hint=hint,
    )
