"""Signals while waiting: clean up before the process ends, as after an interrupt."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def exit_on_signals() -> Iterator[None]:
    """In this block SIGTERM and SIGHUP raise SystemExit with the exit code that a shell reports.

    A second signal is ignored. A signal that was already ignored (`nohup`) stays ignored.
    """
    mine: list[signal.Signals] = []
    if threading.current_thread() is threading.main_thread():
        mine = [signum for signum in SIGNALS if signal.getsignal(signum) is signal.SIG_DFL]
    for signum in mine:
        signal.signal(signum, _end)
    try:
        yield
    finally:
        for signum in mine:
            signal.signal(signum, signal.SIG_DFL)


def _end(number: int, _: FrameType | None) -> None:
    for signum in SIGNALS:
        if signal.getsignal(signum) is _end:
            signal.signal(signum, signal.SIG_IGN)
    raise SystemExit(128 + number)
