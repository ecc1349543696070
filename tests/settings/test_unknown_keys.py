"""Unknown keys of a configuration file, and the ones that were meant."""

from textwrap import dedent

import pytest

from ghp_agents.settings.unknown_keys import UnknownKey, unknown_keys


def test_an_unknown_key_is_told_with_the_one_that_was_meant() -> None:
    content = dedent("""
        {
          "agents": {
            "_comment": "for people",
            "fold_every": 30,
            "stale-after": 60,
            "Push": false,
            "quantum": true,
            "view": true
          },
          "push": false,
          "branchPattern": "{number}"
        }
    """).strip()
    assert unknown_keys(content) == [
        UnknownKey(4, "agents.fold_every", "agents.foldEvery"),
        UnknownKey(5, "agents.stale-after", "agents.staleAfter"),
        UnknownKey(6, "agents.Push", "agents.push"),
        UnknownKey(7, "agents.quantum", None),
        UnknownKey(10, "push", "agents.push"),
    ]


@pytest.mark.parametrize("content", ["", "{", "[1]", "[" * 200_000, '{"agents": 3}'])
def test_a_file_that_is_wrong_otherwise_has_no_unknown_keys(content: str) -> None:
    assert unknown_keys(content) == []


def test_a_key_of_the_server_that_means_nothing_is_named() -> None:
    text = '{"agents": {"github": {\n"repo": "acme/widgets"}}}'
    assert unknown_keys(text) == [UnknownKey(2, "agents.github.repo", None)]
