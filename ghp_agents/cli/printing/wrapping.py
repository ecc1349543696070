"""Messages on a terminal: lines break between words, and never inside a command."""

import os
import re
from collections.abc import Callable
from shutil import get_terminal_size

from ghp_agents.cli.printing.tables import cells

# A command is one word, so that it can be copied: in backticks, or after a colon or an arrow.
_COMMAND = r"(?<!\w)`[^`]+`(?!\w)|(?:(?<=: )|→ )(?:ghp|git|cd) .+?(?=[.,;] |$)"
_WORD = re.compile(rf"(\s*)((?:{_COMMAND}|\S)+)")  # with the space before it
# What a line of a page begins with: an indent and a label, or the mark of an item.
_MARK = re.compile(r"\s+[\w ]{1,20}: |\s*(?:(?:[-*•→✓✗]|\d+\.) )?(?:> )*")
_NO_QUOTE = re.compile("[^>]")  # a quotation goes on as one
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")


def at_home(text: str, home: str) -> str:
    """A text with `~` for the folder `home`, except in quotation marks, where no shell knows it."""
    if not home.startswith("/") or home.endswith("/") or home not in text:
        return text
    return re.sub(rf"(?<![^\s(`]){re.escape(home)}(?=/)", "~", text)


def wrapped(text: str, columns: int, taken: int = 0) -> str:
    """A text in lines of at most `columns`, of which `taken` on the first line are another's.

    What is longer than a line is broken by the terminal. A line goes on below its own indent.
    `columns` is 0 if they are not known: nothing changes.
    """
    if not columns or (taken + 2 * len(text) <= columns and "\n" not in text):
        return text
    first, *others = text.split("\n")
    lines = [wrapped_line(first, columns, taken), *(wrapped_line(x, columns, 0) for x in others)]
    return "\n".join(lines)


def page_on_terminal(text: str, dated: Callable[[str], str]) -> str:
    """A page for the terminal that there is; `dated` replaces the times in a line of ours."""
    columns = get_terminal_size().columns
    return wrapped_page(text, columns, os.environ.get("HOME", ""), dated)


def wrapped_page(text: str, columns: int, home: str = "", dated: Callable[[str], str] = str) -> str:
    """A page in lines of at most `columns`, with `~` for the folder `home`. An item of a list, and
    what has a label, goes on below its text, and a quotation as one; what is between fences stays
    as it is. `dated` replaces the times, except in quotations."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        opened = _FENCE.match(line)
        is_code = bool(fence or opened)
        if opened and not fence:
            fence = opened[1]
        elif fence and line.strip().startswith(fence) and not line.strip(fence[0] + " "):
            fence = ""
        begin = _MARK.match(line)
        indent = _NO_QUOTE.sub(" ", begin[0]) if begin else ""
        if not is_code and ">" not in indent:
            line = dated(line)
        lines.append(line if is_code else wrapped_line(at_home(line, home), columns, 0, indent))
    return "\n".join(lines)


def wrapped_line(line: str, columns: int, at: int, indent: str | None = None) -> str:
    """A line, of which `at` columns are in use. It goes on below `indent`, by default its own; a
    command that fits only without it has a smaller one."""
    if at + cells(line) <= columns:
        return line
    text = line.rstrip()
    if indent is None:
        indent = text[: len(text) - len(text.lstrip())]
    shown = ""
    for space, word in _WORD.findall(text):
        left = columns - cells(word)
        is_command = " " in word and left >= 0 and not indent.strip()
        margin = indent[:left] if is_command else indent
        width, alone = cells(space + word), cells(margin + word)
        if at + width > columns and (len(shown) > len(indent) or alone <= columns):
            shown += f"\n{margin}{word}"
            at = alone
        else:
            shown += space + word
            at += width
    return shown
