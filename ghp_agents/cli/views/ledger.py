"""Entries of the ledger as lines: with local times and wrapped on a terminal, in UTC elsewhere."""

import time
from collections.abc import Iterable, Iterator
from textwrap import wrap

from ghp_agents.core.clock import local_day, to_seconds
from ghp_agents.hotpath.quoting import file, named, phrase, thing, when
from ghp_agents.state.ledger import LedgerEntry

TEXT_SHOWN = 200  # characters
NARROWEST = 40  # columns
_INDENT = "          "  # below a time

Piece = tuple[str, str]  # text, and the number of its colour or nothing


def plain(entry: LedgerEntry) -> list[Piece]:
    """An entry as one line, with its own time."""
    return [(when(entry.at), "2"), (f"  {_who(entry)}", "1"), (f"  {event(entry)}", "")]


class LogPage:
    """Lines for a terminal; each day has a heading."""

    def __init__(self, columns: int) -> None:
        self._columns = max(NARROWEST, columns)
        self._day = ""

    def lines(self, entries: Iterable[LedgerEntry]) -> Iterator[list[Piece]]:
        """The entries' lines."""
        for entry in entries:
            day, clock = _local(entry)
            if day != self._day:
                if self._day:
                    yield [("", "")]
                yield [(day, "1")]
                self._day = day
            yield from self._entry(entry, clock)

    def _entry(self, entry: LedgerEntry, clock: str) -> Iterator[list[Piece]]:
        who = _who(entry)
        text = f"{who}  {event(entry)}"
        first, *more = wrap(text, self._columns - len(_INDENT), break_on_hyphens=False)
        # The name is cut only if it alone is longer than a line.
        size = len(who) if first.startswith(who) else 0
        yield [(f"{clock:8}  ", "2"), (first[:size], "1"), (first[size:], "")]
        yield from ([(f"{_INDENT}{line}", "")] for line in more)


def _who(entry: LedgerEntry) -> str:
    who = named(*entry.by)
    has_via = entry.via not in ("", f"agent {entry.actor}")  # the actor is shown already
    return f"{who} (via {' '.join(map(file, entry.via.split()))})" if has_via else who


def event(entry: LedgerEntry, most: int = TEXT_SHOWN) -> str:
    """What happened, with at most so many characters of its text."""
    issue = f" #{entry.issue}" if entry.issue else ""
    about = "" if entry.object.strip("#") == str(entry.issue) else f" {thing(entry.object)}"
    text = f": {phrase(entry.text, most)}" if entry.text else ""
    return f"{file(entry.event)}{about}{issue}{text}"


def _local(entry: LedgerEntry) -> tuple[str, str]:
    """The day and the time of day of an entry, in the machine's zone."""
    try:
        at = to_seconds(entry.at)
        return local_day(at), time.strftime("%H:%M:%S", time.localtime(at))
    except (ValueError, OverflowError, OSError):
        return "At an unknown time", ""
