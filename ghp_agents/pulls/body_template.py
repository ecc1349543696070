"""The body of a pull request: our sections, alone or inside a repository's template."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ghp_agents.core.finding import Finding
    from ghp_agents.workspace import Workspace

# Places of a repository's template, the one for agents first. GitHub's API applies none of them.
TEMPLATES = (
    ".github/PULL_REQUEST_TEMPLATE/agent.md",
    ".github/pull_request_template.md",
    ".github/PULL_REQUEST_TEMPLATE.md",
    "pull_request_template.md",
    "PULL_REQUEST_TEMPLATE.md",
    "docs/pull_request_template.md",
    "docs/PULL_REQUEST_TEMPLATE.md",
)


class TemplateSection(NamedTuple):
    """One part of the body."""

    key: str  # of HEADINGS
    title: str
    text: str


# Common headings in people's templates.
HEADINGS = {
    "what": "what|summary|description|overview|changes|proposed changes|what changed"
    "|what does this pr do|what does this do|whats changed",
    "why": "why|motivation|context|background|motivation and context|reason|problem|rationale",
    "evidence": "evidence|testing|tests|test plan|checks|verification|how has this been tested"
    "|how was this tested|how to test|qa|validation|test results",
    "handoff": "handoff|notes|notes for reviewers|additional notes|notes for the reviewer"
    "|additional information|additional context",
    "questions": "questions|open questions|decisions|escalations|questions and answers",
    "closes": "issue|issues|related issue|related issues|linked issue|linked issues|closes|fixes"
    "|references|ticket|tickets|related",
}
_KEYS = {word: key for key, words in HEADINGS.items() for word in words.split("|")}
_HEADING = re.compile(
    r" {0,3}(#{1,6})\s+(.*)"
)  # closing #s are stripped later: faster than a regex
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def check(ws: "Workspace") -> "Iterator[Finding]":
    """The doctor's check of the repository's templates."""
    from ghp_agents.consent import templates

    return templates.check(ws, TEMPLATES)


def filled(template: str, sections: Sequence[TemplateSection]) -> str:
    """Fill a repository's template: each section goes under its heading, the others at the end.
    Everything else in the template stays, such as a checklist."""
    text = _FRONT.sub("", template.replace("\r\n", "\n"))
    left = {section.key: section for section in sections if section.text.strip()}
    parts: list[str] = []
    for heading, content in _parts(text):
        section = left.pop(_key(heading), None) if heading else None
        kept = _without_comments(content).strip() if section or not heading else content.strip("\n")
        body = [section.text.strip()] if section else []
        parts.append("\n\n".join(filter(None, [heading, *body, kept])))
    parts += [_titled(section) for section in left.values()]
    return "\n\n".join(filter(None, parts)).strip() + "\n"


def _titled(section: TemplateSection) -> str:
    if section.key == "closes":
        return section.text.strip()
    return f"## {section.title}\n\n{section.text.strip()}"


def _parts(text: str) -> list[tuple[str, str]]:
    """Split a text into (heading, content); text before the first heading has an empty one."""
    parts: list[tuple[str, list[str]]] = [("", [])]
    fence = ""
    comment = False
    for line in text.split("\n"):
        if not line:
            parts[-1][1].append(line)
            continue
        mark = _FENCE.match(line)
        if mark and not comment:
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        if not fence:
            comment = _in_comment(line, comment)
        if not fence and not comment and not mark and _HEADING.match(line):
            parts.append((line.strip(), []))
        else:
            parts[-1][1].append(line)
    return [(heading, "\n".join(lines)) for heading, lines in parts]


def _without_comments(text: str) -> str:
    kept: list[str] = []
    at = 0
    while (begin := text.find("<!--", at)) >= 0 and (end := text.find("-->", begin + 4)) >= 0:
        kept.append(text[at:begin])
        at = end + 3
    return "".join([*kept, text[at:]])


def _in_comment(line: str, before: bool) -> bool:
    """Return whether an HTML comment is still open after a line."""
    begin, end = line.rfind("<!--"), line.rfind("-->")
    return begin > end or (before and end < 0)


def _key(heading: str) -> str:
    match = _HEADING.match(heading)
    title = match[2].rstrip(" \t#") if match else ""
    words = re.sub(r"[^a-z ]+", "", title.lower())
    return _KEYS.get(" ".join(words.split()), "")
