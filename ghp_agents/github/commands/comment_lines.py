"""Classifies the lines of a comment as a page shows them: own words, quotes, code, hidden text.

Only own words are a command. If Markdown is ambiguous, the line counts as no command: after HTML, a
formula, or a code block in a list, lines alone do not show what is quoted or code.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

OWN, QUOTED, CODE, BLANK, UNSURE = "own", "quoted", "code", "blank", "unsure"

_QUOTE = re.compile(r" {0,3}>")
_LISTED = re.compile(r" {0,3}(?:[-+*]|[0-9]{1,9}[.)])[ \t]+>")  # a quotation in a list
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_CLOSING = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*")
_RAW = re.compile(r" {0,3}<(pre|script|style|textarea)\b", re.IGNORECASE)
_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HTML_OR_FORMULA = re.compile(r"<!--|</?[A-Za-z][A-Za-z0-9-]*+(?=[\s/>]|\Z)|\$\$")
_ODD_FENCE = re.compile(  # in a list, or indented like code
    r"(?:[ \t]*+(?:(?:[-+*]|[0-9]{1,9}[.)])[ \t]++)+| {4}| {0,3}\t)[ \t]*+(?:`{3}|~{3})"
)


class CommentLine(NamedTuple):
    """One line, and its kind."""

    kind: str  # own, quoted, code, blank, unsure
    text: str

    @property
    def unquoted(self) -> str:
        """A quoted line without the quote mark."""
        return _QUOTE.sub("", self.text, count=1)

    @property
    def is_lazy(self) -> bool:
        """Whether a page shows the line as part of the quotation above it, without a quote mark."""
        is_marked = _QUOTE.match(self.text) or _LISTED.match(self.text)
        return self.kind == QUOTED and not is_marked


_NOTHING = CommentLine(BLANK, "")


def lines(body: str) -> list[CommentLine]:
    """The visible lines of a comment."""
    text = body.replace("\r\n", "\n").replace("\r", "\n")
    # Hidden text leaves a space, so the text after it does not begin a line.
    return [*_classify(_HIDDEN.sub(_gap, text).split("\n"), text.split("\n"))]


def _gap(hidden: re.Match[str]) -> str:
    return "\n" * hidden[0].count("\n") + " "


def _classify(texts: list[str], written: list[str]) -> Iterator[CommentLine]:
    fence = raw = ""
    before, unsure = BLANK, False
    for text, whole in zip(texts, written, strict=True):
        if not (text or whole or fence or raw):  # fast path: a comment can consist of empty lines
            yield _NOTHING
            before = BLANK
            continue
        kind, inside = OWN, bool(fence or raw)
        if fence:
            kind = CODE
            fence = "" if _ends(text, fence) else fence
        elif raw:
            kind = CODE
            raw = "" if f"</{raw}" in text.lower() else raw
        elif not text.strip(" \t"):
            kind = BLANK
        elif _QUOTE.match(text) or _LISTED.match(text):
            kind = QUOTED
        elif opened := _FENCE.match(text):
            kind, fence = CODE, opened[1]
        elif before == QUOTED:
            kind = QUOTED  # a lazy continuation line belongs to the quotation
        elif opened := _RAW.match(text):
            kind = CODE
            raw = "" if f"</{opened[1].lower()}" in text.lower() else opened[1].lower()
        elif text.startswith(("    ", "\t")):
            kind = CODE
        yield CommentLine(UNSURE if unsure and kind == OWN else kind, text)
        if whole and not (unsure or inside or kind == QUOTED):
            unsure = bool(_HTML_OR_FORMULA.search(whole) or _ODD_FENCE.match(whole))
        before = kind


def _ends(text: str, fence: str) -> bool:
    closing = _CLOSING.fullmatch(text)
    return closing is not None and closing[1][0] == fence[0] and len(closing[1]) >= len(fence)
