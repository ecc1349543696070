"""The degraded embedder: words in another form are near, meanings are not seen."""

import math
import os
import subprocess
import sys

from ghp_agents.notes.search.hashed import DIMENSIONS, vector


def cosine(one: str, other: str) -> float:
    first, second = vector(one), vector(other)
    return sum(a * b for a, b in zip(first, second, strict=True))


def test_vectors_have_length_1_also_where_there_is_no_word() -> None:
    for text in ("A migration", "?!", "", "the of and"):
        values = vector(text)
        assert len(values) == DIMENSIONS
        assert math.isclose(math.sqrt(sum(value * value for value in values)), 1.0)


def test_a_word_in_another_form_is_nearer_than_another_word() -> None:
    assert cosine("migrations", "migration") > 0.6 > 0.2 > cosine("migrations", "passwords")


def test_the_same_text_has_the_same_vector_in_every_process() -> None:
    code = "from ghp_agents.notes.search.hashed import vector; print(vector('busy'))"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert outputs == {f"{vector('busy')}\n"}
