"""Parse an issue's body: its goal, its acceptance criteria and its task list."""

import re
from collections.abc import Sequence
from typing import NamedTuple

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")  # closing marks are stripped later: faster
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_TASK = re.compile(r"\s*[-*+] \[([ xX])\]\s+\S.*")
_GOAL = re.compile(
    r"\b(goal|summary|overview|description|problem|motivation|what|why|user story)\b", re.IGNORECASE
)
_ACCEPTANCE = re.compile(
    r"\b(accept\w*|criteria|definition of done|done when|must hold|requirements?|tasks?|to.?do"
    r"|deliver\w*|check.?list)\b",
    re.IGNORECASE,
)


class Section(NamedTuple):
    """A heading with the text below it, deeper headings included."""

    title: str
    level: int
    text: str


class Outline(NamedTuple):
    """The parts of an issue's body; empty where the body has none."""

    goal: str = ""
    acceptance: str = ""
    tasks_open: int = 0
    tasks: int = 0


def outline(body: str) -> Outline:
    """Parse a body that a person or an issue form wrote."""
    lines = body.replace("\r\n", "\n").split("\n")
    plain = outside_fences(lines)
    ticks = [match[1] for line in plain if (match := _TASK.fullmatch(line))]
    top, sections = _sections(lines, plain)
    goals = [part.text for part in sections if _GOAL.search(part.title)]
    criteria = [part for part in sections if _ACCEPTANCE.search(part.title)]
    acceptance = "\n\n".join(f"{part.title}\n\n{part.text}" for part in criteria)
    if not acceptance and ticks:
        acceptance = "\n".join(line for line in plain if _TASK.fullmatch(line))
    goal_text = "\n\n".join([text for text in (top, *goals) if text])
    goal = goal_text or ("" if acceptance else body.strip())
    return Outline(goal, acceptance, ticks.count(" "), len(ticks))


def section(body: str, title: str) -> str:
    """The text below the first heading `title` (any case), deeper headings included; else empty."""
    lines = body.replace("\r\n", "\n").split("\n")
    for at, end, match in _headings(outside_fences(lines)):
        if _title(match).rstrip(":").casefold() == title.casefold():
            return "\n".join(lines[at + 1 : end]).strip()
    return ""


def of_level(text: str, level: int) -> list[Section]:
    """The sections whose heading has this level, each with all that is below it."""
    lines = text.replace("\r\n", "\n").split("\n")
    return [
        Section(_title(match), level, "\n".join(lines[at + 1 : end]))
        for at, end, match in _headings(outside_fences(lines))
        if len(match[1]) == level
    ]


def _sections(lines: list[str], plain: list[str]) -> tuple[str, list[Section]]:
    """The text above the first heading, and the sections. No section is inside another."""
    heads = _headings(plain)
    top = "\n".join(lines[: heads[0][0]] if heads else lines).strip()
    sections: list[Section] = []
    end_of_last = 0
    for at, end, match in heads:
        wanted = _GOAL.search(match[2]) or _ACCEPTANCE.search(match[2])
        if at < end_of_last or not wanted:
            continue
        text = "\n".join(lines[at + 1 : end]).strip()
        sections.append(Section(_title(match), len(match[1]), text))
        end_of_last = end
    return top, [part for part in sections if part.text]


def _headings(plain: Sequence[str]) -> list[tuple[int, int, re.Match[str]]]:
    """The headings, each with its line number and the line where its section ends."""
    heads: list[tuple[int, int, re.Match[str]]] = []
    ends = [len(plain)] * 7  # by level
    for at in reversed(range(len(plain))):
        if "#" in plain[at] and (match := _HEADING.fullmatch(plain[at])):
            level = len(match[1])
            heads.append((at, ends[level], match))
            ends[level:] = [at] * (7 - level)
    return heads[::-1]


def _title(heading: re.Match[str]) -> str:
    return heading[2].rstrip(" \t#")


def outside_fences(lines: Sequence[str]) -> list[str]:
    """The lines; those inside a code block are empty."""
    plain: list[str] = []
    fence = ""
    for line in lines:
        mark = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if fence:
            closes = mark and mark[1].startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if closes else fence
            plain.append("")
        else:
            fence = mark[1] if mark else ""
            plain.append("" if mark else line)
    return plain
