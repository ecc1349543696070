"""The time limit for a decision: a client kills a slow hook, and then makes the edit."""

import contextlib
import signal
from collections.abc import Iterator

BUDGET_S = 7.0  # seconds; clients wait 10, and Python needs some to start


class OverBudgetError(BaseException):
    """The time is up. Not an `Exception`, so that no handler on the way catches it."""


@contextlib.contextmanager
def budget(seconds: float) -> Iterator[None]:
    """Raise OverBudgetError inside of this block once it has taken `seconds`.

    Uses a timer signal, which also interrupts waiting for a child process and regular expressions.
    Only for the main thread of a process that does not use SIGALRM otherwise.
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
