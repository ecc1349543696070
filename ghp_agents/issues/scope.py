"""The scope of an issue: the paths that its body lists under `Scope`, as patterns.

People, forms and strangers write bodies. Text that is not a pattern is prose and is ignored,
without an error. The number of patterns is limited.
"""

import functools
import itertools
import re

from ghp_agents.core import globs
from ghp_agents.core.errors import UsageError
from ghp_agents.core.glob_paths import spelled
from ghp_agents.issues.body_sections import section

HEADING = "Scope"
UNLIKE = ("a/Z.b", "Q/w/_.9", "7/k.L")  # only a pattern for everything matches all of them
MOST = 200  # patterns of one issue
MOST_LINES = 1_000  # that are read

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_MARK = re.compile(r"(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")
_FENCE = re.compile(r"(`{3,}|~{3,})")
_TICKS = re.compile(r"`++")
_LINK = re.compile(r"\[([^\[\]]*+)\]\([^()]*+\)")
_BRACKETS = re.compile(r"\[[^\]]*+\]")
_LETTERS = re.compile(r"\w")
_BOLD = re.compile(r"\*\*([^*/\s][^*]*)\*\*")
_REMARK = re.compile(
    r"(?<!\s)\s++(?=[(#–—]|-++\s|[:=]\s)|:\s"
)  # where a pattern ends and words about it begin
_NOTHING = {
    "", "-", "–", "—", "_no response_", "no response", "none", "n/a", "na", "tbd", "nothing",
    "unknown", "?",
}  # fmt: skip


def scope(body: str) -> tuple[str, ...]:
    """The patterns of a body, in its order, relative to the repository's root.

    Patterns are list items, single lines, code in backticks and lines of code blocks, if they
    have a pattern's form. The last match wins, as in `.gitignore`. A pattern that covers
    everything is left out; `too_wide` returns it.
    """
    patterns = tuple(text for text in _listed(body) if not _is_everything(text))
    return patterns if any(not text.startswith("!") for text in patterns) else ()


def too_wide(body: str) -> tuple[str, ...]:
    """The patterns of a body that cover everything, and so limit nothing."""
    return tuple(text for text in _listed(body) if _is_everything(text))


def _listed(body: str) -> tuple[str, ...]:
    """All patterns that a body lists as its scope."""
    patterns: dict[str, None] = {}
    spell = functools.cache(_spelling)
    for word in _words(section(_COMMENT.sub("", body), HEADING))[:MOST_LINES]:
        spelling = spell(word)
        if not spelling:
            continue
        patterns.pop(spelling, None)  # of duplicates the last one counts
        patterns[spelling] = None
        if len(patterns) == MOST:
            break
    return tuple(patterns)


def _spelling(word: str) -> str:
    """A pattern in the form of `spelled`; empty for prose and paths outside the repository."""
    try:
        return spelled(word)
    except UsageError:
        return ""


def _is_everything(spelling: str) -> bool:
    if spelling.startswith("!") or _LETTERS.search(_BRACKETS.sub("", spelling)):
        return False
    try:
        return all(globs.covers([spelling], name, fold=True) for name in UNLIKE)
    except UsageError:
        return False  # it matches nothing


def _words(text: str) -> list[str]:
    words: list[str] = []
    fence = ""
    lines = filter(None, (line.strip() for line in text.splitlines()))
    for line in itertools.islice(lines, MOST_LINES):
        mark = _FENCE.match(line) if line[0] in "`~" else None
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip(fence[0]):
                fence = ""
            elif not line.startswith("#"):
                words.append(line)
        elif mark:
            fence = mark[1]
        else:
            words += _of_line(line)
    return words


def _of_line(line: str) -> list[str]:
    """The patterns of one line outside of code blocks."""
    if line.startswith("#"):
        return []  # a deeper heading
    text = _MARK.sub("", line, count=1)
    code = _in_backticks(text) if "`" in text else []
    if code:
        return [word for word in code if word and not any(map(str.isspace, word))]
    pieces = [_REMARK.split(piece.strip(), maxsplit=1)[0] for piece in _plain(text).split(",")]
    return [piece for piece in pieces if _is_pattern(piece)]


def _in_backticks(line: str) -> list[str]:
    """The code spans: text between two runs of backticks of equal length, as in Markdown."""
    runs = list(_TICKS.finditer(line))
    later: dict[int, list[int]] = {}  # by length: the later runs, last first
    for number in reversed(range(len(runs))):
        later.setdefault(len(runs[number][0]), []).append(number)
    spans: list[str] = []
    number = 0
    while number < len(runs):
        same = later[len(runs[number][0])]
        while same and same[-1] <= number:
            same.pop()
        if same:
            spans.append(line[runs[number].end() : runs[same[-1]].start()].strip())
            number = same[-1]
        number += 1
    return spans


def _plain(text: str) -> str:
    """A line without the markup of a link or of bold text."""
    text = _LINK.sub(r"\1", text).strip()
    bold = _BOLD.fullmatch(text)
    return bold[1] if bold else text


def _is_pattern(word: str) -> bool:
    """Whether a word that is not marked as code can be a path."""
    if word.casefold() in _NOTHING or any(map(str.isspace, word)):
        return False
    return "://" not in word and not word.startswith("@")
