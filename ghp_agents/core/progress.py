"""What long work does right now, for the line that a command may show; else nothing happens."""

import contextlib
from collections.abc import Callable, Iterator

WHAT_LIMIT = DETAIL_LIMIT = 400  # characters


class Progress:
    """What is shown of a command's work. `hide` removes it from the screen until it changes."""

    def __init__(self, what: str, hide: Callable[[], None]) -> None:
        self.what = what[:WHAT_LIMIT]
        self.detail = ""
        self.steps = 0  # the line shows the time since the last of them began
        self.hide = hide


_shown: list[Progress] = []
_tell: list[Callable[[str], None]] = []  # says to people what is waited for
WAITS_AFTER = 3.0  # seconds


@contextlib.contextmanager
def shown(progress: Progress) -> Iterator[None]:
    """In this block somebody looks at `progress`."""
    _shown.append(progress)
    try:
        yield
    finally:
        _shown.remove(progress)


def is_shown() -> bool:
    """Whether anybody looks."""
    return bool(_shown)


@contextlib.contextmanager
def step(what: str) -> Iterator[None]:
    """In this block, `what` is what runs, such as a check's command."""
    if not _shown:
        yield
        return
    progress = _shown[-1]
    before = progress.what, progress.detail
    progress.what, progress.detail, progress.steps = what[:WHAT_LIMIT], "", progress.steps + 1
    try:
        yield
    finally:
        (progress.what, progress.detail), progress.steps = before, progress.steps + 1


@contextlib.contextmanager
def told_by(tell: Callable[[str], None]) -> Iterator[None]:
    """In this block, `tell` says what a command waits for, from a thread of its own."""
    _tell.append(tell)
    try:
        yield
    finally:
        _tell.remove(tell)


@contextlib.contextmanager
def waiting(what: str, at_most: float) -> Iterator[None]:
    """In this block somebody else must answer, within `at_most` seconds: after WAITS_AFTER it is
    said who, unless a line on the terminal shows the work."""
    if not _tell or _shown or at_most <= WAITS_AFTER:
        yield
        return
    from threading import Timer

    text = f"Waiting for {what}, for at most {at_most:g} s. Ctrl-C ends it."
    timer = Timer(WAITS_AFTER, _tell[-1], [text])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def note(detail: str) -> None:
    """Show how far it is, or the last line of a program's output; others' text is not clean yet."""
    if _shown:
        _shown[-1].detail = detail[:DETAIL_LIMIT]


def note_output(some: bytes) -> None:
    """Show the last whole line in a part of a program's output."""
    if not _shown:
        return
    lines = some[-4 * DETAIL_LIMIT :].replace(b"\r", b"\n").rpartition(b"\n")[0].split(b"\n")
    last = next((line for line in reversed(lines) if line.strip()), b"")
    if last:
        note(last.decode("utf-8", "replace").strip())


def hide() -> None:
    """Remove the line from the screen, as something else is about to be printed."""
    if _shown:
        _shown[-1].hide()
