"""Limits of a decision: a client kills a slow hook, and then makes the edit."""

# `signal` itself imports enum, which costs as much as the check of an edit.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from types import FrameType
    from typing import Any
else:
    import _signal

BUDGET_S = 7.0  # seconds; clients wait 10, and Python needs some to start
PROCESSOR_S = 1.0  # seconds of the processor for what a model typed: a line, paths, a pattern


class OverBudgetError(BaseException):
    """The time is up. Not an `Exception`, so that no handler on the way catches it."""


class budget:  # noqa: N801  used as a function
    """A block that raises OverBudgetError once it has taken `seconds`, by the clock or, with
    `processor`, of the processor.

    Uses a timer signal, which also interrupts waiting for a child process and regular expressions.
    Only for the main thread of a process that does not use the signal otherwise.
    """

    def __init__(self, seconds: float, *, processor: bool = False) -> None:
        self._seconds = seconds
        self._timer = _signal.ITIMER_PROF if processor else _signal.ITIMER_REAL
        self._signal = _signal.SIGPROF if processor else _signal.SIGALRM
        self._before: Any = None

    def __enter__(self) -> None:
        self._before = _signal.signal(self._signal, _give_up)
        _signal.setitimer(self._timer, self._seconds)

    def __exit__(self, *_: object) -> None:
        _signal.setitimer(self._timer, 0)
        _signal.signal(self._signal, self._before)


def _give_up(_number: int, _frame: "FrameType | None") -> None:
    raise OverBudgetError
