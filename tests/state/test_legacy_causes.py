"""Causes in sentences, as older versions wrote them; rights are in tests/security."""

import pytest

from ghp_agents.state.cause import LAST_RESORT, OVERLAP, QUESTION
from ghp_agents.state.legacy_causes import clone_of, of_entry, of_question


@pytest.mark.parametrize(
    ("text", "options", "issue", "expected"),
    [
        ("Which?", ("a", "b"), 1, (QUESTION, ())),
        ("Who?", ("Try again", "Leave it to a person"), 1, (LAST_RESORT, ())),
        ("Who?", ("Try again", "Leave it to a person"), None, (QUESTION, ())),
        ("Two leases overlap: (L-3f9a), and (L-0b1c)", (), None, (OVERLAP, ("3f9a", "0b1c"))),
    ],
)
def test_an_older_question_is_known_by_its_words(
    text: str, options: tuple[str, ...], issue: int | None, expected: tuple[str, tuple[str, ...]]
) -> None:
    assert of_question(text, options, issue) == expected


def test_an_older_release_by_a_sweep_is_known_by_its_text() -> None:
    assert of_entry("release", "swept: worker-1 is dead") == "swept"
    assert of_entry("release", "not needed") == of_entry("claim", "swept: x is dead") == ""


def test_only_the_trunk_was_held_from_a_clone() -> None:
    assert clone_of("trunk", "merging, in clone 3f9a") == "3f9a"
    assert clone_of("trunk", "merging") == clone_of("issue/1", "x, in clone 3f9a") == ""
