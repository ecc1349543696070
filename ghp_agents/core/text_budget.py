"""Fits a text into a budget: sections in order of importance, each cut if necessary.

Each cut names the command that shows the rest, so readers know what is missing.
"""

from collections.abc import Sequence
from typing import NamedTuple

LEAST = 1_000  # characters; with less, even the list of omitted sections would not fit
BEGINNING = 80  # characters; the shortest beginning of a long line worth showing

# Cleaned text never contains these characters, so no text can start a section.
_MARK, _BETWEEN = "\x1e", "\x1f"


class BudgetSection(NamedTuple):
    """A part of the text, and the command that shows it in full."""

    title: str
    command: str
    text: str

    @property
    def whole(self) -> str:
        """The section under its heading."""
        return _under(self.title, self.text)


def mark(title: str, command: str) -> str:
    """The start of a section, in a text that `split` reads."""
    return f"{_MARK}{title}{_BETWEEN}{command}{_MARK}"


def split(text: str) -> tuple[str, list[BudgetSection]]:
    """The text before the first mark, and the sections that are not empty."""
    head, *rest = text.split(_MARK)
    sections: list[BudgetSection] = []
    for name, content in zip(rest[::2], rest[1::2], strict=True):
        title, _, command = name.partition(_BETWEEN)
        if content.strip():
            sections.append(BudgetSection(title, command, content.strip("\n")))
    return head.strip("\n"), sections


def fit(head: str, sections: Sequence[BudgetSection], limit: int) -> str:
    """At most `limit` characters. A section may use half of the remaining room, so that a long one
    does not hide the others. Unused room goes to the first sections."""
    everything = "\n".join([f"{head}\n", *(section.whole for section in sections)])
    if len(everything) <= limit:
        return everything
    text, omitted = _lay_out(head, sections, limit, reserve=len(_left_out(sections)))
    closer, _ = _lay_out(head, sections, limit, reserve=len(_left_out(omitted)) + 1)
    best = closer if len(closer) <= limit else text
    return best if len(best) <= limit else f"{best[: limit - 2]}…\n"


def _lay_out(
    head: str, sections: Sequence[BudgetSection], limit: int, *, reserve: int
) -> tuple[str, list[BudgetSection]]:
    """The text, and the omitted sections; `reserve` characters are kept to name them."""
    room = limit - len(head) - 2 - reserve
    needs = [len(section.whole) + 1 for section in sections]
    shares: list[int] = []
    for need in needs:
        shares.append(min(need, max(0, room // 2)))
        room -= shares[-1]
    for at, need in enumerate(needs):
        more = max(0, min(need - shares[at], room))
        shares[at] += more
        room -= more
    parts, omitted = [f"{head}\n"], []
    for section, share in zip(sections, shares, strict=True):
        part = section.whole if len(section.whole) < share + 1 else _cut(section, share - 1)
        parts.append(part) if part else omitted.append(section)
    return "\n".join([*parts, _left_out(omitted)] if omitted else parts), omitted


def _cut(section: BudgetSection, limit: int) -> str:
    """As many lines of a section as fit, and a line about the rest. Empty if too little fits."""
    lines = section.text.split("\n")

    def cut_note(kept: int) -> str:
        return f"… ({len(lines) - kept} of {len(lines)} lines cut; {_shown(section)})"

    room = limit - len(_under(section.title, "\n" + cut_note(0)))
    kept: list[str] = []
    for line in lines:
        if len(line) + 1 > room:
            break
        kept.append(line)
        room -= len(line) + 1
    whole = len(kept)
    if whole < len(lines) and room >= BEGINNING:
        kept.append(_begun(lines[whole][: room - 3]))
    elif not any(line.strip("> ") for line in kept):
        return ""
    return _under(section.title, "\n".join([*kept, cut_note(whole)]))


def _begun(line: str) -> str:
    """The beginning of a line that is cut. An open quotation is closed, so that the text after it
    does not look quoted."""
    return line + "…" + ("»" if line.count("«") > line.count("»") else "")


def _shown(section: BudgetSection) -> str:
    return f"see `{section.command}`"


def _left_out(sections: Sequence[BudgetSection]) -> str:
    named = "; ".join(f"{section.title} (`{section.command}`)" for section in sections)
    return f"Left out for size: {named}.\n"


def _under(title: str, text: str) -> str:
    return f"## {title}\n\n{text}\n"
