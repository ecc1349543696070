"""Being told to end while waiting: what was begun is put away first, as after an interrupt."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def exit_on_signals() -> Iterator[None]:
    """In here, SIGTERM and SIGHUP raise SystemExit with the code that a shell gives for them.

    A second one changes nothing. Who was told to ignore one (`nohup`) goes on ignoring it.
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
