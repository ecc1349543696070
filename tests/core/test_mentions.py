"""What agents write mentions nobody and commands no bot."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ghp_agents.core.mentions import BREAK, harmless, in_commit, in_quotations, starts_agent

KNOWN = ("copilot", "claude", "codex", "cursor", "gemini-code-assist", "google-labs-jules",
         "devin-ai-integration", "dependabot", "Claude", "coderabbitai")  # fmt: skip
PLACES = ("{}", "x {} y", "({})", "> {}", "`{}`", "```\n{}\n```", "<!-- {} -->", "**{}**", "_{}_",
          "\\{}", "# {}", "| {} |", "[{}](x)", "a{}")  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", KNOWN)
def test_no_place_of_a_known_agents_name_starts_it(place: str, name: str) -> None:
    text = place.format(f"@{name}")
    assert f"@{name}" not in harmless(text)
    assert harmless(text).replace(BREAK, "") == text


@pytest.mark.parametrize("mention", ["@ada", "@org/team", "&#64;ada", "&#x40;ada", "&commat;ada"])
def test_accounts_that_the_configuration_does_not_name_are_not_mentioned(mention: str) -> None:
    assert harmless(
        f"Hello {mention}!"
    ) == f"Hello {mention.replace('ada', BREAK + 'ada')}!".replace("@org", f"@{BREAK}org")
    assert harmless("Hello @ada and @Ada.", ["@Ada"]) == "Hello @ada and @Ada."


@pytest.mark.parametrize(
    "text",
    [
        "ada@example.com", "`@property`", "```py\n@property\ndef x(): ...\n```", "`@types/node`",
        "/usr/bin/env", "a / b", "see https://github.com/a/b", "src/gemini/a.py",
    ],
)  # fmt: skip
def test_addresses_decorators_packages_and_paths_stay(text: str) -> None:
    assert harmless(text) == text


@pytest.mark.parametrize(
    "line",
    ["/gemini review", "> /lgtm", "- /approve", "/opencode fix", "`/gemini review`",
     "bugbot run", "> cursor review"],
)  # fmt: skip
def test_commands_of_bots_are_broken(line: str) -> None:
    broken = harmless(f"First\n{line}\nlast")
    assert line not in broken
    assert BREAK in broken


def test_a_person_mentions_whom_they_like_but_for_what_they_quote() -> None:
    text = "@copilot please\n> @claude do"
    assert in_quotations(text) == f"@copilot please\n> @{BREAK}claude do"


@given(some.text(alphabet="@/ `~>\n\\-claudeox_.", max_size=80))
def test_it_is_done_once_and_changes_nothing_else(text: str) -> None:
    broken = harmless(text)
    assert harmless(broken) == broken
    assert broken.replace(BREAK, "") == text
    assert not re.search(r"@(claude|codex)", broken)


def test_a_text_that_starts_an_agent_is_told_from_one_that_only_has_an_at() -> None:
    assert not starts_agent("Use @property, @ada and a/b")
    assert starts_agent("Fix it\n\n@Copilot go")
    assert starts_agent("Fix it\n\n/gemini review")
    assert not starts_agent("@codex", ["codex"])


@pytest.mark.parametrize(
    "text",
    [
        "Fix\n\nCo-Authored-By: Claude <noreply@anthropic.com>",
        "Fix\n\nCo-authored-by: aider (openai/one) <aider@aider.chat>",
        "Signed-off-by: Ada <ada@claude.example>",
        "Bump @anthropic-ai/claude-code and @openai/codex, see /claude/docs",
    ],
)
def test_authors_and_packages_in_a_commit_start_nobody_and_stay(text: str) -> None:
    assert not starts_agent(text)
    assert in_commit("\n".join(text.split("\n")[2:])) == "\n".join(text.split("\n")[2:])


def test_the_message_of_a_commit_is_harmless_but_for_its_authors() -> None:
    author = "Co-Authored-By: Claude <noreply@anthropic.com>"
    assert in_commit(f"For @codex\n\n{author}") == f"For @{BREAK}codex\n\n{author}"
