"""A text as long as GitHub takes one costs no reader more than a moment, whatever is in it."""

import contextlib
import re
import time
from collections.abc import Callable, Sequence

import pytest

from ghp_agents.core import child_env as surroundings
from ghp_agents.core import front_matter as document
from ghp_agents.core import glob_paths as spelling
from ghp_agents.core import ids as names
from ghp_agents.core import remote_url as address
from ghp_agents.core import secret_scan as secret
from ghp_agents.core import text_budget as budget
from ghp_agents.core.errors import GhpError
from ghp_agents.github import marker as github_marker
from ghp_agents.github.commands import comment_lines as spoken
from ghp_agents.github.commands import parse as command
from ghp_agents.github.tracker import body as github_body
from ghp_agents.github.tracker import mapping as github_issue
from ghp_agents.hotpath import quoting as quote
from ghp_agents.issues import body_sections as outline
from ghp_agents.issues import issue, scope
from ghp_agents.notes import note, project
from ghp_agents.notes.search import bm25 as textrank
from ghp_agents.pulls import body_template as pull_body

LONGEST = 65_536  # characters of an issue's body on GitHub
BOUND_S = 0.06  # of processor time, where the yardstick below takes YARDSTICK_S
YARDSTICK_S = 0.02
SECTION = pull_body.TemplateSection("what", "What", "The parser.")

READERS: dict[str, Callable[[str], object]] = {
    "outline": outline.outline,
    "section of a body": lambda text: outline.section(text, "Scope"),
    "scope": scope.scope,
    "scope that is too wide": scope.too_wide,
    "blockers": github_body.read_relations,
    "a body without its blockers": lambda text: github_body.without(text, [1, 2], 3),
    "priority": github_issue.priority_in,
    "commands": command.read,
    "a person's own lines": spoken.lines,
    "hidden mark": github_marker.split_marker,
    "text without marks": github_marker.plain,
    "template of a pull request": lambda text: pull_body.filled(text, [SECTION]),
    "secrets": secret.find,
    "text without secrets": secret.redacted,
    "secrets of a note": secret.refuse_in_note,
    "note": note.normalised,
    "first line": names.first_line,
    "words": textrank.terms,
    "names in a text": textrank.names,
    "addresses without credentials": address.masked,
    "host of an address": address.host_of,
    "project of an address": project.name,
    "output of a command": lambda text: surroundings.shown(text, {"MY_TOKEN": "abcdefghijkl"}),
    "quotation": quote.visible,
    "fence": quote.fence,
    "indented": quote.indented,
    "clean": quote.clean,
    "sections by weight": budget.split,
    "record with fields": lambda text: document.parse(text.encode()),
    "slug": names.slug,
    "one line": lambda text: names.one_line(text, 80),
    "issue of a branch": names.issue_of_branch,
    "pattern": spelling.spelled,
    "text of an issue": lambda text: issue.checked_text("body", text),
}

PARTS = (
    "[", "](", "[a](", "`", "``a", "<!--", "<!-- ", " ", "\t", "\n", "\r", "\r\n", "- [ ] ", "**",
    "(", "```\n", "~~~\n", "> ", "# ", "a.b.", "a-", "../", "\\", "#1 ", "\n---\n", "a: ", "://",
    "http://a:", "a@", "eyJ", "sk-", "-----BEGIN A ", "password ", "A_TOKEN=", "authorization: ",
    "machine ", "\x1b[", "\x1b]", "<details>", "<pre>", "blocked by #1, ", "/agent ", "a1", "{{",
)  # fmt: skip
HEADS = ("", "## Scope\n\n- ", "token is", "<!--", "http://", "-----BEGIN ")


def hostile(heads: Sequence[str]) -> list[str]:
    """Texts that begin with one thing and then go on with another, to the end."""
    long = [head + part * (LONGEST // len(part) + 1) for head in heads for part in PARTS]
    return [text[: LONGEST - 1] + "x" for text in long]


def seconds(read: Callable[[str], object], text: str) -> float:
    """The processor time that a reader takes; a refusal is an answer, too."""
    started = time.process_time()
    with contextlib.suppress(GhpError, ValueError):
        read(text)
    return time.process_time() - started


def yardstick() -> float:
    """The processor time of a search that is as fast as this machine is at this moment."""
    return seconds(lambda text: re.findall(r"\w+", text), "ab " * 100_000)


def slow_ones(reader: str, texts: list[str]) -> dict[str, float]:
    """The first of the texts that takes too long, with how many yardsticks it takes."""
    for text in texts:
        if seconds(READERS[reader], text) > BOUND_S:
            pairs = [(seconds(READERS[reader], text), yardstick()) for _ in range(5)]
            ratio = min(took for took, _ in pairs) / min(yard for _, yard in pairs)
            if ratio > BOUND_S / YARDSTICK_S:
                return {text[:24]: round(ratio, 1)}
    return {}


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_no_text_of_another_holds_a_reader_up(reader: str) -> None:
    assert slow_ones(reader, hostile(("", "## Scope\n\n- "))[::4]) == {}


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_no_beginning_makes_it_worse(reader: str) -> None:
    assert slow_ones(reader, hostile(HEADS)) == {}
