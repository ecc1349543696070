"""Splits a comment that was sent as an e-mail into the sender's words and the mail below them.

GitHub posts a reply by e-mail as the mail's text, and masks addresses as `***@***.***`. Mail
programs add a line that ends with `wrote:`, or lines `From:`, `Sent:`. Most mark the old mail with
`>`. Pure.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ghp_agents.github.commands.comment_lines import BLANK, OWN, QUOTED, UNSURE, CommentLine

_MASKED = re.compile(r"\*\*\*@\*\*\*\.\*\*\*|[\w.+-]{1,64}@[\w.-]{0,60}github\.com\b")
_WROTE = re.compile(r"On .{4,200}\bwrote:")
_FIELD = re.compile(r"\*{0,2}[^\W\d_][\w -]{0,14}:\*{0,2}\s+\S")  # `From: bob`
# Anybody can comment. Where two repetitions match the same characters, a search can take hours.
_SIGNATURE = re.compile(
    r"(?:--|—|_{2,}|-{6,}|-{3,}(?:[^-]|-(?!-)){1,40}-{3,})\s*"
    r"|(?:Sent from|Get Outlook for) .{1,60}|Message ID:.*"
)
_FOOTER = re.compile(
    r"^[^\S\n]*(?:—|Reply to this email directly|You are receiving this because)", re.M
)
_LEFT = re.compile(r"\A\s*\S+ left a comment\b.*?(?:\n\s*\n|\Z)", re.DOTALL)
_LINK = re.compile(r"<https?://[^>\s]{0,500}>|\]\(https?://[^)\s]{0,500}\)")
_HEADER = 3  # lines that a mail program breaks its header into, at most
_FIELDS = 3  # lines `From:`, `Sent:`, `To:` that make a header, at least


class EmailReply(NamedTuple):
    """A reply by e-mail."""

    own: list[CommentLine]  # the sender's words, without a signature
    quoted: str  # what the mail says of the comment that it answers


def split(visible: Sequence[CommentLine]) -> EmailReply | None:
    """The parts of a reply by e-mail; None for any other comment."""
    words = (at for at, line in enumerate(visible) if line.kind not in (BLANK, QUOTED))
    first_words = next(words, len(visible))
    for begin, end in _headers(visible):
        in_quotation = visible[begin].kind == QUOTED
        is_marked = in_quotation or _kind_after(visible, end) == QUOTED
        if not (is_marked or _MASKED.search(_joined(visible[begin:end]))):
            continue
        if in_quotation and begin < first_words:
            continue  # a quotation that begins with such a line
        rest = [*visible[end:]]
        old = [line for line in rest if line.kind == QUOTED] if is_marked else rest
        below = [line for line in rest if line.kind != QUOTED] if is_marked else []
        own = [*_unsigned(visible[:begin]), CommentLine(BLANK, ""), *_unsigned(below)]
        return EmailReply(own, bare("\n".join(map(_text, old))))
    return None


def bare(quoted: str) -> str:
    """The comment that a mail of GitHub contains: without the lines around it and without links."""
    text = _LEFT.sub("", quoted, count=1)
    footer = _FOOTER.search(text)
    return _LINK.sub(" ", text[: footer.start()] if footer else text)


def _headers(visible: Sequence[CommentLine]) -> Iterator[tuple[int, int]]:
    """Where a header may be: its first line, and the line after its last."""
    fields = 0
    for at, line in enumerate(visible):
        fields = fields + 1 if line.kind in (OWN, UNSURE) and _FIELD.match(line.text) else 0
        if fields >= _FIELDS and not (at + 1 < len(visible) and _FIELD.match(visible[at + 1].text)):
            if _MASKED.search(_joined(visible[at - fields + 1 : at + 1])):
                yield at - fields + 1, at + 1
        elif line.kind in (OWN, UNSURE, QUOTED) and line.text.rstrip().endswith(":"):
            yield from _wrote(visible, at)


def _wrote(visible: Sequence[CommentLine], at: int) -> Iterator[tuple[int, int]]:
    """A header that ends at this line, as `On Monday, bob ***@***.***> wrote:` does."""
    kind = visible[at].kind
    for begin in range(at, max(-1, at - _HEADER), -1):
        if visible[begin].kind != kind or (kind == QUOTED and visible[begin].is_lazy):
            return
        is_first = begin == 0 or visible[begin - 1].kind != kind
        joined = _joined(visible[begin : at + 1])
        is_header = bool(_WROTE.fullmatch(joined)) or (is_first and bool(_MASKED.search(joined)))
        if is_header and not joined.startswith(">") and (is_first or kind != QUOTED):
            yield begin, at + 1
            return


def _joined(lines: Sequence[CommentLine]) -> str:
    return " ".join(_text(line).strip() for line in lines)


def _text(line: CommentLine) -> str:
    return line.unquoted if line.kind == QUOTED else line.text


def _kind_after(visible: Sequence[CommentLine], begin: int) -> str:
    """The kind of the first line with text, from `begin`."""
    kinds = (visible[at].kind for at in range(begin, len(visible)))
    return next((kind for kind in kinds if kind != BLANK), BLANK)


def _unsigned(lines: Sequence[CommentLine]) -> list[CommentLine]:
    """The lines above a signature."""
    ends = (at for at, line in enumerate(lines) if _SIGNATURE.fullmatch(line.text.strip()))
    return [*lines[: next(ends, len(lines))]]
