"""What a command runs, for the listeners of a trace: git processes and requests. And what it found
out by the way, and must say whatever it was asked for."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

Listener = Callable[[str], None]
_listeners: list[Listener] = []
_notes: dict[str, None] = {}  # in order, each once


@contextmanager
def listening(tell: Listener) -> Iterator[None]:
    """Call `tell` with a line for each step until the block ends."""
    _listeners.append(tell)
    try:
        yield
    finally:
        _listeners.remove(tell)


def command(words: Sequence[str]) -> None:
    """Report a process that is started. Credentials in addresses are masked."""
    step(" ".join(words))


def step(text: str) -> None:
    """Report a step, without credentials in addresses."""
    if not _listeners:
        return
    from ghp_agents.core.remote_url import masked

    for tell in _listeners:
        tell(masked(text))


def note(text: str) -> None:
    """Let the command say this at its end; others' words in it are quoted already."""
    _notes[text] = None


def take_notes() -> list[str]:
    """What is to be said now; it is said once."""
    texts = [*_notes]
    _notes.clear()
    return texts
