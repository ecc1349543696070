"""Whoever mistypes a command is told the ones that look like it."""

import sys
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
            "agent-issue frobnicate T",
            "Error: ghp agent-issue has no command 'frobnicate'.\n"
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


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("agent-issue 7", "agent-issue show 7"),
        ("agent-issue #7 --json", "agent-issue show #7 --json"),
        ("agent-pull 3", "agent-pull show 3"),
        ("agent-notes N-3f9a", "agent-notes show N-3f9a"),
        ("agent-inbox M-3f9a", "agent-inbox read M-3f9a"),
        ("agent-workflows review", "agent-workflows show review"),
        ("agent-escalations show E-3f9a", "agent-escalations E-3f9a"),
    ],
)
def test_the_word_show_is_optional(repo: Path, short: str, full: str) -> None:
    assert invoke(short, repo) == invoke(full, repo)


def test_a_word_of_any_length_is_not_said_back_whole(repo: Path) -> None:
    code, _, err = invoke(["agent-" + "x" * 100_000], repo)
    assert (code, len(err) < 200) == (2, True)


def test_an_unknown_option_is_still_told_as_one(repo: Path) -> None:
    code, _, err = invoke("agent-issue --nope", repo)
    assert (code, "has no option --nope" in err) == (2, True)


@pytest.mark.parametrize("words", ["status --json", "agent-status --json"])
def test_ghpa_takes_a_command_with_and_without_its_prefix(
    repo: Path, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = invoke("agent-status --json", repo)
    monkeypatch.setattr(sys, "argv", ["/usr/bin/ghpa"])
    assert invoke(words, repo) == result


def test_ghpa_names_its_commands_without_the_prefix(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["ghpa"])
    assert invoke("statu", repo).err == (
        "Error: ghpa has no command 'statu'.\n"
        "Hint: Did you mean `ghpa status`? `ghpa --help` lists them all.\n"
    )
    assert invoke("issue nwe T", repo).err == (
        "Error: ghpa issue has no command 'nwe'.\n"
        "Hint: Did you mean `ghpa issue new`? `ghpa issue --help` lists them all.\n"
    )
    listed = invoke("--help", repo).out
    assert ("  status " in listed, "agent-" in listed) == (True, False)
    assert invoke("help log", repo).out.startswith("Usage: ghpa log [OPTIONS]\n")
    assert invoke("issue view 7", repo).code == 1


def test_ghp_leaves_words_without_the_prefix_to_upstream(repo: Path) -> None:
    assert invoke("status", repo).code == 2
