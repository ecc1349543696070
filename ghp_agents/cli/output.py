"""Output: data on standard output, everything else on standard error.

Colours and tables only on a terminal (`printing/tables.py`).
"""

import contextlib
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, NoReturn

import click

from ghp_agents.cli import json_choice
from ghp_agents.core import progress
from ghp_agents.core.declared import plain
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import byte_of
from ghp_agents.core.schema_version import versioned
from ghp_agents.hotpath import quoting

_now: ContextVar[Callable[[], float]] = ContextVar("now", default=time.time)
_HALVES = re.compile("[\ud800-\udfff]")
_CONTROLS = re.compile("[\x80-\x9f]")  # JSON itself escapes those below 0x20
QUIET, VERBOSE, NO_PAGER = "ghp_agents.q", "ghp_agents.v", "ghp_agents.no-pager"  # in `meta`
BUSY_AFTER = 1.0  # seconds


def data(text: str) -> None:
    """Print data unchanged, with a newline at its end."""
    progress.hide()
    try:
        sys.stdout.write(text if text.endswith("\n") or not text else text + "\n")
    except OSError as error:
        _give_up(error)


def page(text: str) -> None:
    """Print data for people. On a terminal, lines break between words, times are local, and `~` is
    the home."""
    text = clean(text)
    if is_terminal():
        from ghp_agents.cli.printing.wrapping import page_on_terminal

        text = page_on_terminal(text, _localised)
    data(text)


def as_json(value: Any, rows: Sequence[Any] | None = None) -> None:
    """Print a value as JSON with an indent of 2. An object, or each of a list, has its version.

    `--json FIELDS` prints only these fields, of `rows` if they are given; `--jq` what is left.
    """
    _print_json(value, rows, indent=2)


def as_json_line(value: Any) -> None:
    """Print a value as JSON on one line, with the same options."""
    _print_json(value, None, indent=None)


def _print_json(value: Any, rows: Sequence[Any] | None, indent: int | None) -> None:
    choice, value, rows = json_choice.current(), plain(value), plain(rows)
    value = json_choice.chosen(value, rows, choice.fields) if choice.fields else _versioned(value)
    if choice.query is None:
        data(_escaped(json.dumps(value, indent=indent, ensure_ascii=False)))
        return
    for answer in json_choice.answers(value, choice.query):
        data(f"{clean(answer)}\n")


def _versioned(value: Any) -> Any:
    if isinstance(value, list):
        return [_versioned(item) for item in value]
    return versioned(value) if isinstance(value, dict) else value


def _escaped(text: str) -> str:
    """JSON that is safe on a terminal: C1 control characters are escaped."""
    if text.isascii():
        return text
    # A lone surrogate is not valid UTF-8, and many readers reject its JSON escape. The bytes of
    # names that are not UTF-8 are written as elsewhere.
    written = _HALVES.sub(lambda match: byte_of(match[0]).replace("\\", "\\\\") or "\ufffd", text)
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", written)


def is_set(option: str) -> bool:
    """Whether an option of all commands was given: QUIET, VERBOSE or NO_PAGER."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and option in ctx.meta


@contextlib.contextmanager
def clocked(now: Callable[[], float]) -> Iterator[None]:
    """In this block, people read times by this clock. It gives seconds since the epoch."""
    token = _now.set(now)
    try:
        yield
    finally:
        _now.reset(token)


def when(text: str) -> str:
    """A record's time, which may be any text, for data."""
    return dated(quoting.when(text))


def dated(text: str) -> str:
    """A text of ours for data: at a terminal its times are local."""
    return _localised(text) if is_terminal() else text


def say(text: str) -> None:
    """Print a message for people, like `done` and `warn`: not with -q."""
    progress.hide()
    if not is_set(QUIET):
        sys.stderr.write(f"{_message(text)}\n")


def _message(text: str, taken: int = 0) -> str:
    words = clean(text)
    return _fitted(_localised(words), sys.stderr, taken) if sys.stderr.isatty() else words


def _fitted(text: str, stream: Any, taken: int = 0) -> str:
    """A text of ours. On a terminal, its lines break between words, and `~` is the home folder.
    `taken` columns of the first line are in use."""
    if not stream.isatty():
        return text
    from ghp_agents.cli.printing.busy_line import columns
    from ghp_agents.cli.printing.wrapping import at_home, wrapped

    return wrapped(at_home(text, os.environ.get("HOME", "")), columns(stream), taken)


def _localised(text: str) -> str:
    from ghp_agents.core.local_times import localised  # imports datetime

    return localised(text, _now.get()())


def step(text: str) -> None:
    """Print a step of -v, as it is: it may be a command."""
    _write_marked("+", "2", clean(text))


def done(text: str) -> None:
    """Report a completed action."""
    if not is_set(QUIET):
        _say_marked("✓", "32", text)


def warn(text: str, hint: str = "") -> None:
    """Print a warning and a hint."""
    if is_set(QUIET):
        return
    _say_marked("Warning:", "33", text)
    if hint:
        _say_marked("Hint:", "36", hint)


def error(text: str, hint: str) -> None:
    """Print an error and a hint."""
    _say_marked("Error:", "31", text)
    if hint:
        _say_marked("Hint:", "36", hint)


def _say_marked(mark: str, colour: str, text: str) -> None:
    # Only the text is cleaned: `clean` would remove the colour of the mark.
    _write_marked(mark, colour, _message(text, len(mark) + 1))


def _write_marked(mark: str, colour: str, text: str) -> None:
    progress.hide()
    sys.stderr.write(f"{_paint(mark, colour, sys.stderr)} {text}\n")


def marked(mark: str, colour: str, text: str) -> None:
    """Print a line of data that begins with a mark, coloured on a terminal."""
    words = _fitted(clean(text), sys.stdout, len(mark) + 1)
    data(f"{_paint(mark, colour, sys.stdout)} {words}")


def painted(pieces: Iterable[tuple[str, str]]) -> None:
    """Print a line of data. Each piece is a text and the number of its colour, which is shown on a
    terminal."""
    line = "".join(_paint(clean(text), colour, sys.stdout) for text, colour in pieces)
    data(f"{line.rstrip()}\n")


def back(lines: int) -> None:
    """On a terminal: go back to the beginning of the last lines, and clear them."""
    sys.stdout.write(f"\033[{lines}F\033[J")


def result(text: str) -> None:
    """Print an id or a number for a script. On a terminal the message beside it has it."""
    if not sys.stdout.isatty() or is_set(QUIET):
        data(text)


def is_terminal() -> bool:
    """Whether standard output is a terminal that can show colours."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def has_colours(stream: Any) -> bool:
    """Whether a stream is shown in colours: $NO_COLOR, else $FORCE_COLOR, else what it is."""
    if os.environ.get("NO_COLOR"):
        return False
    forced = (os.environ.get(name, "") for name in ("FORCE_COLOR", "CLICOLOR_FORCE"))
    if any(value.lower() not in ("", "0", "false") for value in forced):
        return True
    return bool(stream.isatty()) and os.environ.get("TERM") != "dumb"


def shows_tables() -> bool:
    """Whether data is shown as for people: on a terminal, and wherever colours are forced."""
    return is_terminal() or has_colours(sys.stdout)


def table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], styles: Sequence[str] = ()
) -> None:
    """Print rows under columns: a table on a terminal, aligned plain text otherwise.

    `styles` has one rich style for each row, or is empty.
    """
    progress.hide()
    if not shows_tables():
        plain_table(columns, rows)
        return
    from ghp_agents.cli.printing import tables

    cells = [[clean(cell) for cell in row] for row in rows]
    tables.show(tables.FittingTable(columns, cells, styles), has_colours(sys.stdout))


def plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under columns as aligned plain text."""
    lines = [list(columns), *([clean(cell) for cell in row] for row in rows)]
    widths = [max(len(row[index]) for row in lines) for index in range(len(columns))]
    for row in lines:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        data(line.rstrip())


def clean(text: str) -> str:
    """Text without control characters, so that no terminal escape gets through."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else byte_of(c) or "�" for c in text)


def flush() -> None:
    """Flush standard output, so that a closed pipe raises here."""
    try:
        sys.stdout.flush()
    except OSError as error:
        _give_up(error)


def _give_up(error: OSError) -> NoReturn:
    """Raise BrokenPipeError, or GhpError if standard output cannot be written."""
    if isinstance(error, BrokenPipeError):
        raise error
    drop_stdout()
    raise GhpError(
        f"Cannot write the output: {error.strerror}.",
        hint="Write it to another place. Everything saved before is kept.",
    ) from None


def open_closed() -> None:
    """Open /dev/null for closed streams (`>&-`); else the next opened file takes their number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8"))


def drop_stdout() -> None:
    """After a closed pipe: let the interpreter exit without an error message."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _paint(text: str, colour: str, stream: Any) -> str:
    return f"\033[{colour}m{text}\033[0m" if colour and has_colours(stream) else text


@contextlib.contextmanager
def busy(what: str, *, after: float = BUSY_AFTER) -> Iterator[None]:
    """On a terminal, a line shows `what` runs, the elapsed time and `progress.note`, once the block
    takes longer than `after` seconds. It is gone when the block ends, and while others print."""
    if progress.is_shown():
        with progress.step(what):
            yield
        return
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb" or is_set(QUIET):
        yield
        return
    from threading import Event, Thread

    from ghp_agents.cli.printing.busy_line import BusyLine

    over = Event()
    line = BusyLine(what, sys.stderr, clean, lambda text: _paint(text, "2", sys.stderr))
    showing = Thread(target=line.keep_showing, args=(over, after), daemon=True)
    showing.start()
    try:
        with progress.shown(line.progress):
            yield
    finally:
        over.set()
        showing.join()
        line.hide()
