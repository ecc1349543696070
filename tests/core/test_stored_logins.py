"""Stored logins are taken from the programs of a run, and given back to our own."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core import stored_logins

NAMES = st.sampled_from(
    ["GH_CONFIG_DIR", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_TERMINAL_PROMPT", "HOME"]
)


@given(st.dictionaries(NAMES, st.text(st.characters(codec="utf-8", exclude_characters="\0"))))
def test_what_is_given_back_is_what_was_taken(environ: dict[str, str]) -> None:
    run = environ | stored_logins.taken(environ, Path("/run/gh"))
    assert run["GH_CONFIG_DIR"] == "/run/gh"
    assert stored_logins.given_back(run) == environ
    assert stored_logins.given_back(environ) == environ


def test_a_sandbox_gives_nothing_back() -> None:
    run = stored_logins.taken({"GH_CONFIG_DIR": "/mine"}, Path("/run/gh"), hidden=True)
    assert stored_logins.are_hidden(run)
    assert stored_logins.given_back(run)["GH_CONFIG_DIR"] == "/run/gh"


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"A": 3}', "[" * 100_000])
def test_a_strange_variable_changes_nothing_else(text: str) -> None:
    environ = {"HOME": "/h", stored_logins.VARIABLE: text}
    assert stored_logins.given_back(environ) == {"HOME": "/h"}
