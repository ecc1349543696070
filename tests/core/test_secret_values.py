"""What a machine drew is told from names in code; common passwords are told from others."""

import keyword
import random
import string

import pytest

from ghp_agents.core.secret_values import is_drawn, is_password, is_value

ALPHABETS = (
    string.ascii_letters + string.digits,
    string.ascii_letters + string.digits + "+/",
    string.ascii_letters + string.digits + "-_",
    "0123456789abcdef",
)


@pytest.mark.parametrize("alphabet", ALPHABETS)
def test_nearly_all_that_a_machine_draws_is_known(alphabet: str) -> None:
    draw = random.Random(34)
    values = ["".join(draw.choices(alphabet, k=40)) for _ in range(1_000)]
    assert sum(is_drawn(value) for value in values) > 985


def test_names_made_of_words_are_not_drawn() -> None:
    words = [word for word in keyword.kwlist if len(word) > 2]
    draw = random.Random(34)
    names = []
    for _ in range(500):
        some = draw.choices(words, k=6)
        names += ["_".join(some), "-".join(some), "".join(word.title() for word in some)]
    assert [name for name in names if is_drawn(name) or is_value(f"{name}2")] == []


@pytest.mark.parametrize("value", ["secret", "my-password", "admin123", "a%20secret", "xxxxxxxx"])
def test_a_common_example_is_no_password(value: str) -> None:
    assert not is_password(value)


@pytest.mark.parametrize("value", ["hunter2", "s3cretpw99", "p%40ss%21word", "supersecretpw"])
def test_another_word_is_a_password(value: str) -> None:
    assert is_password(value)
