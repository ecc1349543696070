"""Text of others, shown so that it can pass for nothing but a quotation."""

import re

_TICKS = re.compile(r"`+")


def clean(text: str) -> str:
    """Text without control characters: no terminal escape and no hidden letter reaches a reader."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text)


def fence(text: str) -> str:
    """Text as a block of code in markdown, in a fence longer than any that it has itself."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}\n{text}\n{ticks}"


def visible(text: str) -> str:
    """Text in which nothing is hidden from the reader of a page: what HTML takes for a comment
    is seen by programs alone."""
    return clean(text).replace("<!--", "&lt;!--")


def indented(text: str) -> str:
    """Text as a quotation in markdown, with nothing hidden."""
    return "\n".join(f"> {line}".rstrip() for line in visible(text).split("\n"))


def cut(text: str, limit: int, rest: str) -> str:
    """At most `limit` characters of a text, with a line that says where the rest is."""
    return text if len(text) <= limit else f"{text[:limit]}\n… ({rest})"
