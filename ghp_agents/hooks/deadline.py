"""The time that a decision may take: a client ends a slow hook, and then makes the edit."""

import contextlib
import signal
from collections.abc import Iterator

BUDGET_S = 7.0  # seconds; clients wait 10 for the answer, of which Python's start takes some


class OverBudgetError(BaseException):
    """The time is up. No `Exception`: nothing on the way may take it for a failure of its own."""


@contextlib.contextmanager
def budget(seconds: float) -> Iterator[None]:
    """Raise OverBudgetError inside of this block once it has taken `seconds`.

    By a timer signal, which also interrupts a child process that is waited for, and a regular
    expression. Only for the main thread of a process that has no other use for SIGALRM.
    """

    def give_up(_number: int, _frame: object) -> None:
        raise OverBudgetError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
