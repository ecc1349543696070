"""Names from gh and git: those that work, and those that lead to the right command."""

import json
from pathlib import Path

import click
import pytest

from ghp_agents.cli.aliases import ALIASES, BELOW, SUGGESTIONS, canonical, suggested
from ghp_agents.cli.app import COMMANDS, app
from tests.support.ghp import invoke


def is_command(words: tuple[str, ...]) -> bool:
    """Whether the words, without options, are a command."""
    context = click.Context(app, info_name="ghp")
    command = app.get_command(context, words[0])
    rest = [word for word in words[1:] if not word.startswith("-")]
    if rest:
        return isinstance(command, click.Group) and rest[0] in command.commands
    return command is not None


def test_each_alias_is_for_a_command_and_hides_none() -> None:
    for alias, words in ALIASES.items():
        assert (is_command(words), is_command(alias)) == (True, False), alias


def test_each_suggestion_is_a_command_and_is_for_none() -> None:
    for word, names in SUGGESTIONS.items():
        for name in names:
            assert name.startswith("--") or is_command(tuple(name.split())), name
        assert f"agent-{word}" not in COMMANDS, word


@pytest.mark.parametrize(
    ("typed", "run"),
    [
        ("agent-issue list --label bug", "agent-issues --label bug"),
        ("agent-issue view 3", "agent-issue show 3"),
        ("agent-pr list", "agent-pulls"),
        ("agent-escalations show E-1", "agent-escalations E-1"),
        ("agent-pr diff 3", "agent-pull show --diff 3"),
        ("agent-lease list", "agent-lease list"),
        ("agent-issue", "agent-issue"),
    ],
)
def test_an_alias_stands_for_the_first_words_only(typed: str, run: str) -> None:
    assert canonical(typed.split()) == run.split()


def test_each_suggestion_below_a_command_is_one_of_its_commands() -> None:
    for command, below in BELOW.items():
        for name, words in below.items():
            assert is_command((command, name)), name
            assert not any(is_command((command, word)) for word in words.split()), name


def test_the_suggestion_is_the_same_with_and_without_the_prefix() -> None:
    assert suggested("kill") == suggested("agent-kill") == ("agent-stop",)
    assert suggested("frobnicate") == ()


def test_an_issue_is_created_listed_and_viewed_as_with_gh(repo: Path) -> None:
    assert invoke(["agent-issue", "create", "Parse the input"], repo).out == "1\n"
    assert invoke("agent-issue list --json number", repo).out == '[\n  {\n    "number": 1\n  }\n]\n'
    viewed = invoke("agent-issue view 1 --json title,number", repo).out
    assert json.loads(viewed) == {"title": "Parse the input", "number": 1}


@pytest.mark.parametrize("words", ["help issue", "agent-help agent-issue", "agent-issue --help"])
def test_help_of_a_command_is_what_its_option_prints(repo: Path, words: str) -> None:
    code, out, err = invoke(words, repo)
    assert (code, out.splitlines()[0], err) == (
        0, "Usage: ghp agent-issue [OPTIONS] COMMAND [ARGS]...", ""
    )  # fmt: skip


def test_help_of_a_command_below_another_and_of_all(repo: Path) -> None:
    assert invoke("agent-help issue new", repo) == invoke("agent-issue new --help", repo)
    assert invoke("agent-help", repo) == invoke("--help", repo)
