"""Names of topics, and the patterns that cover them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.errors import UsageError
from ghp_agents.messages.topics.topic import checked_name, checked_pattern, is_topic, matches

WORDS = st.from_regex(r"[a-z0-9](?:[a-z0-9_-]{0,5}[a-z0-9])?", fullmatch=True)
NAMES = st.lists(WORDS, min_size=1, max_size=4).map(".".join)


@pytest.mark.parametrize(
    ("pattern", "topic", "covers"),
    [
        ("code.completed", "code.completed", True),
        ("code.completed", "code.review", False),
        ("code.*", "code.completed", True),
        ("code.*", "code", False),
        ("code.*", "code.review.done", False),
        ("*.completed", "task.completed", True),
        ("code.>", "code.review.done", True),
        ("code.>", "code", False),
        (">", "anything.at.all", True),
        ("*", "project_updates", True),
    ],
)
def test_a_star_is_one_word_and_an_arrow_the_rest(pattern: str, topic: str, covers: bool) -> None:
    assert checked_pattern(pattern) == pattern
    assert matches(pattern, topic) is covers


@pytest.mark.slow
@given(NAMES)
def test_a_name_covers_itself_and_is_covered_by_all(name: str) -> None:
    assert checked_name(name) == name
    assert is_topic(f"@{name}")
    assert matches(name, name)
    assert matches(">", name)
    assert matches(".".join("*" for _ in name.split(".")), name)


@pytest.mark.parametrize(
    "name", ["", ".", "a.", ".a", "a..b", "A", "a b", "-a", "x" * 101, "*", "a.>"]
)
def test_what_is_no_name_is_refused(name: str) -> None:
    assert not is_topic(f"@{name}")
    with pytest.raises(UsageError, match="is not the name of a topic"):
        checked_name(name)


@pytest.mark.parametrize("pattern", ["", "a.", "a.>.b", ">.a", "a*", "**", "A.*"])
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(UsageError, match="is not a pattern of topics"):
        checked_pattern(pattern)
