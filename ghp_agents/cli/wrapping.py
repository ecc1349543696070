"""Messages on a terminal: lines break between words, and never inside a command."""

import re

from ghp_agents.cli.busy_line import cells

# A command is one word, so that it can be copied: in backticks, or after a colon.
_COMMAND = r"(?<!\w)`[^`]+`(?!\w)|(?<=: )(?:ghp|git|cd) .+?(?=[.,;] |$)"
_WORD = re.compile(rf"(\s*)((?:{_COMMAND}|\S)+)")  # with the space before it


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
    return "\n".join([_line(first, columns, taken), *(_line(x, columns, 0) for x in others)])


def _line(line: str, columns: int, at: int) -> str:
    if at + cells(line) <= columns:
        return line
    text = line.rstrip()
    indent = text[: len(text) - len(text.lstrip())]
    shown = ""
    for space, word in _WORD.findall(text):
        width, alone = cells(space + word), cells(indent + word)
        if at + width > columns and (shown or alone <= columns):
            shown += f"\n{indent}{word}"
            at = alone
        else:
            shown += space + word
            at += width
    return shown
