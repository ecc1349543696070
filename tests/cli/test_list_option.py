"""Options that take a list: with commas and by repetition, and errors that show how."""

from pathlib import Path

import click
import pytest

from ghp_agents.cli.list_option import ListOption
from tests.cli.test_common_options import commands
from tests.support.ghp import Result, invoke

# Their values are texts, places or patterns, which may have commas.
WHOLE = {"--option", "--path", "--artifact", "--excerpt", "--commits", "-C", "--finding", "--next",
         "--decision", "--identifier"}  # fmt: skip


def test_each_repeatable_option_is_a_list_unless_its_values_may_have_commas() -> None:
    repeatable = {
        max(option.opts, key=len): isinstance(option, ListOption)
        for command in commands()
        for option in command.params
        if isinstance(option, click.Option) and option.multiple
    }
    assert {name for name, is_list in repeatable.items() if not is_list} <= WHOLE
    assert {name for name, is_list in repeatable.items() if is_list} >= {"--hooks", "--label"}


@pytest.mark.parametrize("words", ["--label a,b --label c", "--label 'a, b,c'", "--label a,b,c,"])
def test_a_list_has_commas_or_is_repeated(repo: Path, words: str) -> None:
    assert invoke(f"agent-issue new Parse {words}", repo).code == 0
    assert "\nlabels: a, b, c\n" in invoke("agent-issue show 1", repo).out


@pytest.mark.parametrize("words", ["claude,git", "claude --hooks git", "git --hooks=claude"])
def test_hooks_take_a_list(repo: Path, words: str) -> None:
    shown = invoke(f"agent-init --dry-run --hooks {words}", repo).out
    assert "hooks for Claude Code" in shown
    assert ".git/hooks/pre-commit" in shown


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("agent-init --hooks claude git", "--hooks claude,git"),
        ("agent-init --mcp claude gemini codex", "--mcp claude,gemini,codex"),
        ("agent-issues --label a --label b c", "--label a,b,c"),
    ],
)
def test_an_error_about_a_list_shows_how_it_is_written(repo: Path, line: str, right: str) -> None:
    command, extra = line.split()[0], line.split("claude " if "claude" in line else "b ")[1]
    assert invoke(line, repo) == Result(
        2, "", f"Error: `ghp {command}` does not take '{extra}'.\nHint: A list has commas: "
        f"`{right}`. `ghp {command} --help` lists all options.\n",
    )  # fmt: skip
    wrong = invoke("agent-init --hooks claude,gitt", repo)
    assert wrong.err.endswith("A list has commas: `claude,git`.\n")
