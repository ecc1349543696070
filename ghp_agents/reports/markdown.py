"""Markdown for the published pages. Others' text is shown as it is: it never becomes markup, a
mention or a link, on GitHub or elsewhere."""

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from ghp_agents.core.secret_scan import redacted
from ghp_agents.hotpath.quoting import clean, fence, seen_line

T = TypeVar("T")

TEXT_LIMIT = 120  # characters of a cell
SECRET_LENGTH = 8  # the shortest word that can be a secret; the patterns are slow
_UNSEEN = "&#8203;"  # a space without width: it separates what would be a mention or a link
_ESCAPES = str.maketrans(
    {char: f"\\{char}" for char in "\\`*_{}[]<>|~$&"} | {char: char + _UNSEEN for char in "@#"}
)
_LINKS = re.compile(r":(?=//)|\bwww(?=\.)|\bgh(?=-[0-9])", re.I)


def safe_line(text: str, limit: int = TEXT_LIMIT) -> str:
    """Others' text on one line, without what may be a secret."""
    line = seen_line(text[: 8 * limit], limit)  # the rest of a long text costs time only
    return redacted(line) if any(len(word) >= SECRET_LENGTH for word in line.split()) else line


def plain(text: str, limit: int = TEXT_LIMIT) -> str:
    """Others' text on one line, for a cell or a sentence."""
    return _LINKS.sub(rf"\g<0>{_UNSEEN}", safe_line(text, limit).translate(_ESCAPES))


def block(text: str, limit: int, command: str) -> str:
    """Others' text as a code block of at most `limit` characters; `command` prints the rest."""
    shown = redacted(clean(text[: 2 * limit]))  # a secret at the limit is removed before the cut
    rest = f"\n… (cut; see `{command}`)" if len(text) > limit else ""
    return fence(shown[:limit] + rest)


def link(text: str, target: str) -> str:
    """A link with a text of ours."""
    return f"[{text}]({target})"


def table(
    columns: Sequence[str],
    items: Sequence[T],
    row: Callable[[T], Sequence[str]],
    most: int,
    nothing: str = "None.",
) -> list[str]:
    """The lines of a table with at most `most` rows, and the number of the rest. `row` gives the
    cells of an item, as Markdown."""
    if not items:
        return [nothing, ""]
    lines = [_line(columns), "|" + "---|" * len(columns), *(_line(row(x)) for x in items[:most])]
    rest = len(items) - most
    return [*lines, "", *([f"… and {rest} more.", ""] if rest > 0 else [])]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
