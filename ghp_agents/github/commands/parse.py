"""Parses comment commands: `/agent assign worker-1` as its own paragraph, and replies to questions.

Pure, with a closed grammar: an inexact command is a mistake, which is answered with help, or no
command at all. Quoted, hidden or code text is never a command. A line that a page might show as
part of something else is a mistake.
"""

import html
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from ghp_agents.core.ids import one_line
from ghp_agents.escalations.escalation import Escalation
from ghp_agents.github import wording
from ghp_agents.github.commands import email_reply
from ghp_agents.github.commands.comment_lines import (
    BLANK,
    CODE,
    OWN,
    QUOTED,
    UNSURE,
    CommentLine,
    lines,
)
from ghp_agents.hotpath.heartbeat import is_name
from ghp_agents.issues.comment_commands import ASSIGN, RETRY, STOP

ANSWER, STATUS = "answer", "status"
VERBS = (ASSIGN, STOP, RETRY, ANSWER, STATUS)
LONGEST = 262_144  # characters; GitHub takes a quarter of that
MOST_LINES = 8_000  # of one comment; nobody writes more, and each costs time
MOST = 20  # commands in one comment
LEAST_QUOTE = 8  # letters that identify a quotation

_WORD = "/agent"
_APART = "a command must be a paragraph of its own: put empty lines above and below it"
_BELOW = "HTML, a formula or code in a list is above it; put it at the top or into a new comment"
_SPACES = "only spaces may separate its words"
_RETURN = "the comment has unusual line ends"
_LONE_RETURN = re.compile(r"\r(?!\n)")
_END = CommentLine(BLANK, "")
_FOLD = re.compile(r"</?(?:details|summary|sub)>")  # a page does not show these tags
_FOOTER_WORDS = 20  # of a footer, at most
_PARAGRAPH = re.compile(r"\n(?:[ \t>]*\n)+")
_QUESTION = re.compile(r"(?:[Ee]-?)?[0-9a-fA-F]{4,64}")


class Command(NamedTuple):
    """What to do."""

    verb: str
    name: str = ""  # the agent, with @ if so written, or the question
    text: str = ""  # the answer

    @property
    def short(self) -> str:
        """One line without the long parts."""
        return " ".join(filter(None, (_WORD, self.verb, self.name)))


class Mistake(NamedTuple):
    """A line that looks like a command but is invalid, and why."""

    line: str
    why: str


class QuotedReply(NamedTuple):
    """A quotation, and the text below it; in an e-mail, the text above it."""

    quoted: str
    text: str
    lazy: str = ""  # unmarked lines right below the quotation, which a page shows as part of it


class ParsedComment(NamedTuple):
    """Everything in a comment that may be meant for agents."""

    commands: tuple[Command, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    replies: tuple[QuotedReply, ...] = ()
    plain: str = ""  # the text of a comment without commands and quotations


NOTHING = ParsedComment()
_TOO_MANY_LINES = ParsedComment(
    mistakes=(Mistake("too many lines", f"a comment can have at most {MOST_LINES:,} lines"),)
)


def read(body: str) -> ParsedComment:
    """Parse a comment."""
    if len(body) > LONGEST:
        return NOTHING
    if max(body.count("\n"), body.count("\r")) >= MOST_LINES:
        return _TOO_MANY_LINES if _WORD in body.lower() else NOTHING
    visible = lines(body)
    email = email_reply.split(visible)
    visible = email.own if email else visible
    lone = _RETURN if _LONE_RETURN.search(body) else ""
    found_at = _find_commands(visible, lone) if _WORD in body.lower() else {}
    starts = [at for at, why in found_at.items() if not why]
    commands: list[Command] = []
    mistakes = [Mistake(one_line(visible[at].text, 80), why) for at, why in found_at.items() if why]
    for start, end in pairwise([*starts, len(visible)]):
        parsed = _command(visible[start].text, visible[start + 1 : end])
        if isinstance(parsed, Command):
            commands.append(parsed)
        else:
            mistakes.append(parsed)
    if max(len(commands), len(mistakes)) > MOST:
        count = f"{max(len(commands), len(mistakes))} commands"
        return ParsedComment(
            mistakes=(Mistake(count, f"a comment can have at most {MOST} commands"),)
        )
    rest = visible[: starts[0]] if starts else visible
    replies, own = [*_replies(rest)], _own_text(rest)
    if email and email.quoted.strip():
        replies = [QuotedReply(email.quoted, own)] if own else []
    is_plain = not (found_at or (email and email.quoted.strip()))
    is_plain = is_plain and all(line.kind != QUOTED for line in rest)
    return ParsedComment(
        tuple(dict.fromkeys(commands)), tuple(mistakes), tuple(replies), own if is_plain else ""
    )


def _own_text(visible: Sequence[CommentLine]) -> str:
    """The text without quotations; empty without any words."""
    if not any(line.kind in (OWN, CODE, UNSURE) for line in visible):
        return ""
    return "\n".join(line.text for line in visible if line.kind != QUOTED).strip()


def _is_command(line: CommentLine) -> bool:
    if line.kind not in (OWN, UNSURE) or line.text[:1].isspace():
        return False
    words = line.text.split(None, 1)
    return bool(words) and words[0].lower() == _WORD


def _find_commands(visible: Sequence[CommentLine], why: str) -> dict[int, str]:
    """The lines that look like commands, by number, each with the reason why it is invalid; an
    empty reason means a valid command. `why` is a reason that applies to all of them."""
    reasons: dict[int, str] = {}
    run: list[int] = []  # consecutive commands without an empty line
    for at, line in enumerate((*visible, _END)):
        if _is_command(line):
            run.append(at)
            continue
        apart = bool(run) and _is_apart(visible, run)
        reasons |= {
            index: why or _doubt(visible[index]) or ("" if apart else _APART) for index in run
        }
        run = []
    return reasons


def _doubt(line: CommentLine) -> str:
    if line.kind == UNSURE:
        return _BELOW
    words = re.split("[ \t]+", line.text.strip(" \t"), maxsplit=3)
    return "" if words[:3] == line.text.split(None, 3)[:3] else _SPACES


def _is_apart(visible: Sequence[CommentLine], run: Sequence[int]) -> bool:
    """Whether commands are a paragraph of their own. An answer may continue below its command."""
    first, after = run[0], run[-1] + 1
    begins = not first or visible[first - 1].kind == BLANK
    words = visible[run[-1]].text.lower().split(None, 2)
    return begins and (
        after == len(visible) or visible[after].kind == BLANK or words[1:2] == [ANSWER]
    )


def _command(line: str, below: Sequence[CommentLine]) -> Command | Mistake:
    words = line.split()
    verb = words[1].lower() if len(words) > 1 else ""
    if verb == ANSWER:
        return _answer(line, below)
    shown = one_line(line, 80)
    if verb not in VERBS:
        why = f"{one_line(words[1], 40)!r} is not a command" if verb else "the command is missing"
        return Mistake(shown, why)
    names = words[2:]
    if verb != ASSIGN:
        return Mistake(shown, f"`{verb}` takes no arguments") if names else Command(verb)
    if len(names) != 1:
        return Mistake(shown, "`assign` needs the name of one agent")
    name = names[0].strip("`").lower().removeprefix("agent:")
    is_valid = is_name(name.removeprefix("@"))
    return Command(ASSIGN, name) if is_valid else Mistake(shown, "that is not a valid agent name")


def _answer(line: str, below: Sequence[CommentLine]) -> Command | Mistake:
    parts = line.split(None, 3)
    shown = one_line(line, 80)
    if len(parts) < 3 or not _QUESTION.fullmatch(parts[2].strip("`")):
        return Mistake(shown, "`answer` needs a question, E-3f9a, and then the answer")
    first = parts[3] if len(parts) > 3 else ""
    text = "\n".join([first, *(entry.text for entry in below)]).strip()
    name = parts[2].strip("`")
    return Command(ANSWER, name, text) if text else Mistake(shown, "the answer is empty")


def _replies(visible: Sequence[CommentLine]) -> Iterable[QuotedReply]:
    """Each quotation with the text below it, up to the next one."""
    number = 0
    while number < len(visible):
        begin = number
        while number < len(visible) and visible[number].kind == QUOTED:
            number += 1
        quoted, begin = visible[begin:number], number
        while number < len(visible) and visible[number].kind != QUOTED:
            number += 1
        text = _own_text(visible[begin:number])
        marked = next((at for at in range(len(quoted), 0, -1) if not quoted[at - 1].is_lazy), 0)
        lazy = "" if any(map(_looks_ordered, quoted[marked:])) else _text(quoted[marked:])
        if quoted and (text or lazy):
            yield QuotedReply("\n".join(line.unquoted for line in quoted[:marked]), text, lazy)


def _looks_ordered(line: CommentLine) -> bool:
    return line.text.lstrip().lower().startswith(_WORD)


def _text(visible: Sequence[CommentLine]) -> str:
    return "\n".join(line.text for line in visible).strip()


def meant(
    reply: QuotedReply, questions: Sequence[tuple[Escalation, str]]
) -> tuple[list[Escalation], str]:
    """The questions whose comment a reply may quote, wholly or in part, and the answer.

    The quote is compared with the original comments word by word, because a page does not show
    Markdown as it was written. Lines right below a quotation may belong to it or to the answer.
    """
    whole = f"{reply.quoted}\n{reply.lazy}"
    matching = _quoting(whole, questions) if reply.text else []
    if matching or not reply.lazy:
        return matching, reply.text
    return _quoting(reply.quoted, questions), f"{reply.lazy}\n\n{reply.text}".strip()


def _quoting(quoted: str, questions: Sequence[tuple[Escalation, str]]) -> list[Escalation]:
    words = (_words(part) for part in _PARAGRAPH.split(quoted))
    paragraphs = [part for part in words if part and not _is_footer(part)]
    matching = [
        question
        for question, comment in questions
        if paragraphs and _is_of(paragraphs, question, _words(comment))
    ]
    named = [question for question in matching if question.id in _words(quoted).split()]
    return named or matching


def _is_footer(words: str) -> bool:
    """Whether a paragraph is the footer of a comment, which names its author."""
    return words.startswith(_FOOTER) and words.count(" ") < _FOOTER_WORDS


def _is_of(paragraphs: Sequence[str], question: Escalation, comment: str) -> bool:
    """Whether all paragraphs are parts of the comment, and one is long enough to be sure."""
    is_long = max(map(len, paragraphs)) >= LEAST_QUOTE
    is_part = all(f" {words} " in f" {comment} " for words in paragraphs)
    return is_part and (is_long or _words(question.question.text) in paragraphs)


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", html.unescape(_FOLD.sub(" ", text)).casefold()))


_FOOTER = _words(wording.BEGIN)
