"""What people read on GitHub: the footer that says who wrote a text, and names. Pure."""

import re

from ghp_agents.core.ids import Actor, one_line

PROGRAM = Actor("ghp-agents")  # the author of what the program writes for nobody in particular
BEGIN = "<sub>A program (ghp-agents) wrote this"
_FOOTER = re.compile(rf"(?:\A|\n\n){re.escape(BEGIN)}[^\n]*</sub>\Z")
_SPECIAL = "\\|[]`*_~#"


def footer(by: Actor, account: str = "") -> str:
    """The line below a text: for which agent and which person it was written. `account` is the
    person whose account writes it; empty if unknown."""
    whom = [] if by == PROGRAM else [f"{'' if by.is_person else 'the agent '}{cell(by.name)}"]
    whom += [cell(account)] if account and not by.is_person else []
    return f"{BEGIN}{' for ' if whom else ''}{' and '.join(whom)}.</sub>"


def without_footer(text: str) -> str:
    """A text without the footer at its end."""
    return _FOOTER.sub("", text)


def cell(text: str) -> str:
    """Other people's text on one line: it mentions nobody, and its formatting is escaped."""
    line = one_line(text, 200).replace("&", "&amp;").replace("<", "&lt;").replace("@", "@\u200b")
    return "".join("\\" + char if char in _SPECIAL else char for char in line)
