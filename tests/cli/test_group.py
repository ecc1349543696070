"""Whoever mistypes a command is told the ones that look like it."""

from pathlib import Path

import pytest

from tests.support.ghp import invoke


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (
            "agent-statu --json",
            "Error: ghp has no command 'agent-statu'.\n"
            "Hint: Did you mean `ghp agent-status`? `ghp --help` lists them all.\n",
        ),
        (
            "agent-issue creat T",
            "Error: ghp agent-issue has no command 'creat'.\n"
            "Hint: `ghp agent-issue --help` lists them all.\n",
        ),
        (
            "agent-issue nwe T",
            "Error: ghp agent-issue has no command 'nwe'.\n"
            "Hint: Did you mean `ghp agent-issue new`? `ghp agent-issue --help` lists them all.\n",
        ),
        (
            "agent-issue coment 1 T",
            "Error: ghp agent-issue has no command 'coment'.\n"
            "Hint: Did you mean `ghp agent-issue comment`? `ghp agent-issue --help` lists them "
            "all.\n",
        ),
    ],
)
def test_an_unknown_command_is_told_what_it_may_have_meant(
    repo: Path, words: str, error: str
) -> None:
    assert invoke(words, repo) == (2, "", error)


def test_a_word_of_any_length_is_not_said_back_whole(repo: Path) -> None:
    code, _, err = invoke(["agent-" + "x" * 100_000], repo)
    assert (code, len(err) < 200) == (2, True)


def test_an_unknown_option_is_still_told_as_one(repo: Path) -> None:
    code, _, err = invoke("agent-issue --nope", repo)
    assert (code, "No such option" in err) == (2, True)
