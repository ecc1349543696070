"""Which names are similar to a mistyped one."""

import pytest

from ghp_agents.cli.terminal.closest import closest

NAMES = ["status", "start", "stop", "log", "init"]


@pytest.mark.parametrize(
    ("word", "matches"),
    [
        ("staus", ["status"]),
        ("statr", ["start"]),
        ("lgo", ["log"]),
        ("list", []),
        ("status" * 100_000, []),
        ("", []),
    ],
)
def test_only_names_that_are_nearly_the_word_are_suggested(word: str, matches: list[str]) -> None:
    assert closest(word, NAMES) == matches
