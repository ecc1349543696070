"""Lines on a terminal that are replaced in place; elsewhere nothing moves."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from shutil import get_terminal_size

from ghp_agents.cli import output

Line = Sequence[tuple[str, str]]  # spans of text and style, which is words of STYLES
STYLES = {
    "bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34",
    "magenta": "35", "cyan": "36",
}  # fmt: skip


def size() -> tuple[int, int]:
    """The columns and lines of the terminal."""
    return get_terminal_size()


class Frame:
    """Lines that the next ones replace. Each takes at most the terminal's width."""

    def __init__(self) -> None:
        self._lines: Sequence[Line] = ()

    def show(self, lines: Sequence[Line]) -> None:
        """Show lines in place of the previous ones."""
        self._clear()
        self._print(lines)

    def say(self, line: Line) -> None:
        """Print a line of any width above them, which stays."""
        self._clear()
        _paint(line)
        self._print(self._lines)

    def _clear(self) -> None:
        if self._lines:
            output.back(len(self._lines))

    def _print(self, lines: Sequence[Line]) -> None:
        for line in lines:
            _paint(line)
        output.flush()
        self._lines = lines


def _paint(line: Line) -> None:
    output.painted((text, _codes(text, style)) for text, style in line)


def _codes(text: str, style: str) -> str:
    return ";".join(STYLES[word] for word in style.split()) if text.strip() else ""


@contextlib.contextmanager
def stage() -> Iterator[tuple[Callable[[Line], None], Callable[[Sequence[Line]], None]]]:
    """Two functions: print a line, and show lines that replace the previous ones.

    On a terminal the latter stay below the former; elsewhere only the former are printed.
    """
    if not output.is_terminal():
        yield _say_at_once, lambda lines: None
        return
    frame = Frame()
    try:
        yield frame.say, frame.show
    finally:
        frame.show(())


def _say_at_once(line: Line) -> None:
    _paint(line)
    output.flush()
