"""Our lines as Textual's content: always text and styles, never markup."""

from textual.content import Content

from ghp_agents.cli.views.status_screen import Line, Span
from ghp_agents.hotpath.quoting import clean

# The terminal's own colours; Textual's names without "ansi_" are fixed ones.
COLOURS = frozenset(["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"])


def content(line: Line) -> Content:
    """A line with its styles, without control characters."""
    return Content.assemble(*map(_part, line))


def selected(line: Line, width: int) -> Content:
    """A line as a bar of one colour, as wide as the screen."""
    text = clean("".join(text for text, _ in line))
    return Content.styled(text, "reverse").truncate(width, pad=True).stylize("reverse")


def _part(span: Span) -> tuple[str, str]:
    text, style = span
    words = (f"ansi_{word}" if word in COLOURS else word for word in style.split())
    return clean(text), " ".join(words)
